package cssame;

/** A lock. Unless it is re-entrant, a thread that takes it twice waits for ever. */
public final class Lock {
    static final String NOT_HELD = "the lock is not held by this thread";

    private final boolean isReentrant;
    private Thread owner;
    private int levels;

    /** A lock that is not re-entrant. */
    public Lock() {
        this(false);
    }

    /** A lock that is re-entrant or not. */
    public Lock(boolean reentrant) {
        isReentrant = reentrant;
    }

    /** Takes it, waiting for the thread that holds it. */
    public synchronized void lock() {
        while (!take(1)) {
            Blocking.pause(this);
        }
    }

    /** Takes it again after a wait, at as many levels as before. */
    public synchronized void lock(Waiter waiter) {
        while (!take(waiter.levels)) {
            Blocking.pause(this);
        }
    }

    /** Takes it if that is possible now. */
    public synchronized boolean tryLock() {
        return take(1);
    }

    private boolean take(int more) {
        if (owner != null && !(isReentrant && isHeld())) {
            return false;
        }
        owner = Thread.currentThread();
        levels += more;
        return true;
    }

    /** Gives it back, or one of its levels. */
    public synchronized void unlock() {
        giveBack(1);
    }

    /** Gives it back; how many levels were held. */
    synchronized int free() {
        int all = levels;
        giveBack(all);
        return all;
    }

    private void giveBack(int less) {
        Failure.check(isHeld(), NOT_HELD);
        levels -= less;
        if (levels == 0) {
            owner = null;
            notifyAll();
        }
    }

    /** Whether this thread holds it. */
    public synchronized boolean isHeld() {
        return owner == Thread.currentThread();
    }
}
