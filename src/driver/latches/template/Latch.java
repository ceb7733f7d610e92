package cssame;

import java.util.concurrent.CountDownLatch;

/** The latch of a version: it opens when the version is defined, and holds its value. */
final class Latch {
    private final String version;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile Object value;
    private volatile int order;

    Latch(String version) {
        this.version = version;
    }

    /** Opens it. It is the definition of that number in the run. */
    void trip(Object value, int order) {
        if (isOpen()) {
            throw new IllegalStateException(version + " is defined twice");
        }
        this.value = value;
        this.order = order;
        closed.countDown();
    }

    boolean isOpen() {
        return closed.getCount() == 0;
    }

    /** Waits until it is open. */
    void await() {
        try {
            closed.await();
        } catch (InterruptedException over) {
            throw new Stop();
        }
    }

    Object value() {
        return value;
    }

    int order() {
        return order;
    }
}
