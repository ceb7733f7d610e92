package cssame;

/** An event: threads wait until it is set. */
public final class Event {
    private boolean isSet;

    /** An event that is not set. */
    public Event() {}

    /** Sets it, and lets all waiting threads go. */
    public synchronized void set() {
        isSet = true;
        notifyAll();
    }

    /** Takes it back: threads that come now wait. */
    public synchronized void clear() {
        isSet = false;
    }

    /** Waits until it is set. */
    public synchronized void await() {
        while (!isSet) {
            Blocking.pause(this);
        }
    }
}
