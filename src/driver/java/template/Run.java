package cssame;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A run of the program: along a plan, or free.
 *
 * <p>The plan gives a total order of events. A thread waits before each event until all events before it are done,
 * so an operation never blocks when its turn has come; only in a recorded deadlock threads really block.
 *
 * <p>{@code CSSAME_LATCH_SECONDS=N} sets how long a run may stand still (10 s), {@code CSSAME_DELAYS=SEED} puts random
 * delays before and behind every event.
 */
public final class Run {
    /** Runs share the fields of the program, so there is one at a time. */
    private static final Object ONE_AT_A_TIME = new Object();

    /** What is followed; {@code null} in a free run. */
    final Plan plan;
    final Long delays = numberFrom("CSSAME_DELAYS");
    private final long patience;
    private final List<ProgramThread> started = new ArrayList<>();
    /** The number of the event whose turn it is. */
    private int turn;
    private long movedAt = System.nanoTime();
    private String departure;
    private String failure;
    private boolean isDiscarded;
    private volatile boolean isOver;

    private Run(Plan plan) {
        this.plan = plan;
        Long seconds = numberFrom("CSSAME_LATCH_SECONDS");
        patience = TimeUnit.SECONDS.toNanos(seconds == null ? 10 : seconds);
    }

    private static Long numberFrom(String variable) {
        String text = System.getenv(variable);
        return text == null || !text.matches("[0-9]{1,9}") ? null : Long.valueOf(text);
    }

    /**
     * Runs the program along the plan of that name, {@code plans/NAME.plan} in the resources of the tests.
     *
     * @param reset gives all shared variables their first values
     * @param main the main thread
     * @param failuresPass whether a recorded failure or deadlock is what the test wants
     * @throws AssertionError if the run departs from the plan or ends in another way, or fails as recorded
     */
    public static void follow(String plan, Runnable reset, Runnable main, boolean failuresPass) {
        synchronized (ONE_AT_A_TIME) {
            Run run = new Run(Plan.named(plan));
            reset.run();
            run.start(0, 0, run.plan.names.get(0), main);
            new Watch(run).untilEnd();
            new Judge(run).judge(failuresPass);
        }
    }

    /**
     * Runs the program without a plan. Threads go on as the machine lets them, and what they print goes to the standard
     * output.
     *
     * @throws AssertionError if the program fails, or its threads wait for ever
     */
    public static void free(Runnable reset, Runnable main) {
        synchronized (ONE_AT_A_TIME) {
            Run run = new Run(null);
            reset.run();
            run.start(0, 0, "main", main);
            new Watch(run).untilEnd();
            if (run.failure() != null && !run.isDiscarded) {
                throw new AssertionError(run.failure());
            }
        }
    }

    boolean isFree() {
        return plan == null;
    }

    boolean isOver() {
        return isOver;
    }

    /** The name of a planned thread. */
    String name(int number) {
        return plan.names.get(number);
    }

    long patience() {
        return patience;
    }

    ProgramThread start(int number, long handle, String name, Runnable body) {
        ProgramThread thread = new ProgramThread(this, number, handle, name, body);
        synchronized (this) {
            started.add(thread);
        }
        thread.start();
        return thread;
    }

    /** The number of the next thread of a free run. */
    synchronized int nextFree() {
        return started.size();
    }

    synchronized List<ProgramThread> threads() {
        return List.copyOf(started);
    }

    synchronized String departure() {
        return departure;
    }

    synchronized String failure() {
        return failure;
    }

    synchronized int turn() {
        return turn;
    }

    synchronized void moved() {
        movedAt = System.nanoTime();
    }

    synchronized long stillFor() {
        return System.nanoTime() - movedAt;
    }

    /** Waits until all events before this one are done. */
    void awaitTurn(PlannedEvent event) {
        while (turn() < event.turn()) {
            LockSupport.park(this);
            ProgramThread.required().stopIfOver();
        }
    }

    /** Hands the turn on. */
    void nextTurn() {
        ProgramThread owner = null;
        synchronized (this) {
            turn++;
            movedAt = System.nanoTime();
            if (turn < plan.timed.size()) {
                int number = plan.timed.get(turn).thread();
                owner = started.stream().filter(each -> each.number == number).findFirst().orElse(null);
            } else {
                notifyAll();
            }
        }
        LockSupport.unpark(owner);
    }

    /** A thread is over. */
    synchronized void over() {
        movedAt = System.nanoTime();
        notifyAll();
    }

    /** Ends the run: all threads stop where they come to the runtime next. */
    void finish() {
        isOver = true;
        threads().forEach(Thread::interrupt);
        synchronized (this) {
            notifyAll();
        }
    }

    /** Notes a departure from the plan; what is returned stops the thread. */
    Stop depart(String message) {
        synchronized (this) {
            departure = departure == null && !isOver ? message : departure;
        }
        finish();
        return new Stop();
    }

    /** The program fails as planned; what is returned stops the thread. */
    Stop failed(ProgramThread thread, PlannedEvent event) {
        synchronized (this) {
            failure = event.value();
        }
        thread.current = null;
        thread.pass();
        return new Stop();
    }

    Stop failedFree(ProgramThread thread, String message) {
        synchronized (this) {
            failure = failure == null ? thread.getName() + ": " + message : failure;
        }
        finish();
        return new Stop();
    }

    /** The free run has violated an assumption. */
    Stop discard() {
        isDiscarded = true;
        finish();
        return new Stop();
    }

    /** The body of a thread has come to its end. */
    void ended(ProgramThread thread) {
        if (isFree()) {
            return;
        }
        thread.check();
        PlannedEvent event = thread.planned();
        if (event != null && !event.is("end")) {
            throw depart(thread.getName() + " ends, but " + event.describe() + " is planned");
        } else if (event != null) {
            thread.pass();
        } else if (plan.end.equals("ok")) {
            throw depart(thread.getName() + " ends twice");
        }
    }

    /** The calls of a thread do not end. */
    void endless(ProgramThread thread) {
        PlannedEvent event = isFree() ? null : thread.planned();
        if (event != null && event.isEndless()) {
            failed(thread, event);
        } else {
            thrown(thread, new StackOverflowError());
        }
    }

    /** The program has thrown something that is no failure of its source. */
    void thrown(ProgramThread thread, Throwable error) {
        StackTraceElement[] trace = error.getStackTrace();
        String message = thread.getName() + " throws " + error + (trace.length > 0 ? " at " + trace[0] : "");
        if (isFree()) {
            failedFree(thread, message);
        } else {
            depart(message);
        }
    }
}
