package cssame;

/** An event: threads wait until it is set. */
public final class Event {
    private boolean isSet;
    /** The planned event that was done with it last. */
    private PlannedEvent last;

    /** An event that is not set. */
    public Event() {}

    /** Sets it, and lets all waiting threads go. */
    public synchronized void set() {
        isSet = true;
        last = Order.performed();
        notifyAll();
    }

    /** Takes it back: threads that come now wait. */
    public synchronized void clear() {
        isSet = false;
        last = Order.performed();
    }

    /** Waits until it is set. */
    public synchronized void await() {
        while (!isSet) {
            Blocking.pause(this);
        }
        last = Order.performed();
    }

    /** Whether that was the last thing done with it. */
    synchronized boolean isLast(PlannedEvent event) {
        return last == event;
    }
}
