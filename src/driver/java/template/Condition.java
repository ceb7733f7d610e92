package cssame;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** A condition: threads wait for a notification, in three steps: {@code enter}, {@code leave}, {@code Lock.lock}. */
public final class Condition {
    private static final long TIME_MILLIS = 10;

    private final List<Waiter> waiters = new ArrayList<>();

    /** A condition that nobody waits for. */
    public Condition() {}

    /** Gives all levels of the lock back, and begins to wait. */
    public synchronized Waiter enter(Lock lock) {
        return begin(lock.free());
    }

    /** Begins to wait without a lock. */
    public synchronized Waiter enter() {
        return begin(0);
    }

    private Waiter begin(int levels) {
        Waiter waiter = new Waiter(levels);
        waiters.add(waiter);
        return waiter;
    }

    /** Waits for the notification. Wake-ups without one do not count, unless one is planned. */
    public synchronized void leave(Waiter waiter) {
        if (Order.isSpurious()) {
            waiters.remove(waiter);
        } else {
            while (!waiter.isNotified) {
                Blocking.pause(this);
            }
        }
    }

    /** Waits for the notification or for some time; whether it was notified. */
    public synchronized boolean leaveTimed(Waiter waiter) {
        long until = System.nanoTime() + TIME_MILLIS * 1_000_000;
        long left = TIME_MILLIS;
        while (!waiter.isNotified && left > 0) {
            Blocking.pause(this, left);
            left = (until - System.nanoTime() + 999_999) / 1_000_000;
        }
        waiters.remove(waiter);
        return waiter.isNotified;
    }

    /** Wakes one waiting thread: the one that the plan says, the first one where nothing is planned. */
    public synchronized void signal() {
        Set<Integer> planned = Order.woken();
        if (planned == null) {
            waiters.stream().limit(1).toList().forEach(this::wake);
            return;
        }
        List<Waiter> chosen = waiters.stream().filter(each -> planned.contains(each.number())).toList();
        if (chosen.size() != planned.size() || chosen.isEmpty() != waiters.isEmpty()) {
            throw Order.wakesOthers(numbers());
        }
        chosen.forEach(this::wake);
    }

    /** Wakes all waiting threads. */
    public synchronized void signalAll() {
        Set<Integer> planned = Order.woken();
        if (planned != null && !planned.equals(numbers())) {
            throw Order.wakesOthers(numbers());
        }
        List.copyOf(waiters).forEach(this::wake);
    }

    private void wake(Waiter waiter) {
        waiters.remove(waiter);
        waiter.isNotified = true;
        notifyAll();
    }

    private Set<Integer> numbers() {
        Set<Integer> numbers = new TreeSet<>();
        waiters.forEach(each -> numbers.add(each.number()));
        return numbers;
    }
}
