package cssame;

/** An event. */
public final class Event {
    private final String name;
    /** Guarded by the watch. */
    private boolean isSet;

    /** An event of that name that is not set. */
    public Event(String name) {
        this.name = name;
    }

    /** Sets it. */
    public void set() {
        Run.current().watch.change(() -> isSet = true);
    }

    /** Unsets it. */
    public void clear() {
        Run.current().watch.change(() -> isSet = false);
    }

    /** Waits until it is set. */
    public void await() {
        Run.current().watch.await(() -> "waits for the event " + name, () -> !isSet);
    }
}
