package cssame;

import java.util.HashMap;
import java.util.Map;

/**
 * A readers-writer lock. A thread may read several times; one that reads and writes, or writes twice, waits for ever.
 */
public final class RwLock {
    private final boolean prefersWriters;
    private final Map<Thread, Integer> readers = new HashMap<>();
    private Thread writer;
    private int waitingWriters;

    /** A lock whose readers do not wait for waiting writers. */
    public RwLock() {
        this(false);
    }

    /** Where writers are preferred, one that waits keeps new readers out, also those that read already. */
    public RwLock(boolean preferWriters) {
        prefersWriters = preferWriters;
    }

    /** Takes it for reading. */
    public synchronized void readLock() {
        while (!tryRead()) {
            Blocking.pause(this);
        }
    }

    /** Takes it for writing. */
    public synchronized void writeLock() {
        waitingWriters++;
        try {
            while (!tryWriteLock()) {
                Blocking.pause(this);
            }
        } finally {
            waitingWriters--;
            notifyAll();
        }
    }

    /** Takes it for reading if that is possible now. */
    public synchronized boolean tryReadLock() {
        // Along a plan a writer waits for its turn, not here.
        boolean isKeptOut = prefersWriters && !readers.isEmpty() && Order.isNotTaken();
        return !isKeptOut && tryRead();
    }

    private boolean tryRead() {
        if (writer != null || prefersWriters && waitingWriters > 0) {
            return false;
        }
        readers.merge(Thread.currentThread(), 1, Integer::sum);
        return true;
    }

    /** Takes it for writing if that is possible now. */
    public synchronized boolean tryWriteLock() {
        if (writer != null || !readers.isEmpty()) {
            return false;
        }
        writer = Thread.currentThread();
        return true;
    }

    /** Gives one hold back. */
    public synchronized void unlock() {
        Thread thread = Thread.currentThread();
        Failure.check(isHeld(), Lock.NOT_HELD);
        if (writer == thread) {
            writer = null;
        } else {
            readers.computeIfPresent(thread, (reader, holds) -> holds > 1 ? holds - 1 : null);
        }
        notifyAll();
    }

    /** Whether this thread reads or writes. */
    public synchronized boolean isHeld() {
        return writer == Thread.currentThread() || readers.containsKey(Thread.currentThread());
    }
}
