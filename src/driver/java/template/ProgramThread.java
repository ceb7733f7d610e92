package cssame;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/** A thread of the program: it belongs to one run, and knows how far it has come in the plan. */
final class ProgramThread extends Thread {
    private static final long STACK = 16L << 20;
    private static final int MOST_ROUNDS = 1_000_000;

    final Run run;
    final int number;
    final long handle;
    /** The threads to be joined next. */
    final List<ProgramThread> forked = new ArrayList<>();
    /** What it has printed. */
    final List<String> output = new ArrayList<>();
    /** The event that it has begun and not done yet. */
    PlannedEvent current;
    /** Where it has come to, for the report of a run that does not go on. */
    volatile String place = "its beginning";
    /** Whether it waits for ever here in the recorded execution. */
    volatile boolean isStanding;
    /** Whether it may go on into the operation that it waits in. */
    volatile boolean isLetIn;
    /** Whether it has gone on into that operation: if it is blocked from now on, then there. */
    volatile boolean isInside;
    /** The permits that a semaphore had before the operation that it does now. */
    int permits;
    /** Whether it is on its way to its end, giving monitors back. */
    boolean isStopping;
    /** The line of the program that it has come to, if an aspect has told it. */
    String line;
    private final Runnable body;
    private final List<PlannedEvent> events;
    private final Random random;
    private volatile int next;
    private volatile boolean isOver;
    private int rounds;

    ProgramThread(Run run, int number, long handle, String name, Runnable body) {
        super(null, null, name, STACK);
        this.run = run;
        this.number = number;
        this.handle = handle;
        this.body = body;
        events = run.isFree() ? List.of() : run.plan.events.get(number);
        random = run.delays == null ? null : new Random(run.delays * 0x9e3779b97f4a7c15L + number);
        setDaemon(true);
    }

    /** The running thread, if it is one of a program. */
    static ProgramThread current() {
        return Thread.currentThread() instanceof ProgramThread thread ? thread : null;
    }

    /** The running thread, if it follows a plan. */
    static ProgramThread following() {
        ProgramThread thread = current();
        return thread == null || thread.run.isFree() ? null : thread;
    }

    static ProgramThread required() {
        ProgramThread thread = current();
        if (thread == null) {
            throw new IllegalStateException("threads are made in runs: call Run.free or Run.follow");
        }
        return thread;
    }

    @Override
    public void run() {
        try {
            body.run();
            run.ended(this);
        } catch (Stop stop) {
            // Why it stops is noted where it does.
        } catch (StackOverflowError error) {
            run.endless(this);
        } catch (Throwable error) {
            run.thrown(this, error);
        } finally {
            isOver = true;
            run.over();
        }
    }

    boolean isOver() {
        return isOver;
    }

    /** The event that is planned next, or {@code null}. */
    PlannedEvent planned() {
        return next < events.size() ? events.get(next) : null;
    }

    /** The event with a turn that is planned next, behind prints and choices; {@code null} if there is none. */
    PlannedEvent plannedTurn() {
        for (int i = next; i < events.size(); i++) {
            PlannedEvent event = events.get(i);
            if (event.isTimed()) {
                return event;
            } else if (!event.is("print") && !event.is("choose")) {
                return null;
            }
        }
        return null;
    }

    /** Notes a departure from the plan; what is returned stops this thread. */
    Stop depart(String what) {
        return run.depart(getName() + " " + what + Source.here());
    }

    void stopIfOver() {
        if (run.isOver()) {
            throw new Stop();
        }
    }

    /** The planned event of a kind that has no turn, which this thread has come to. */
    PlannedEvent expect(String kind, String what) {
        check();
        place = what;
        PlannedEvent event = planned();
        if (event == null) {
            throw past(what);
        } else if (event.isEndless()) {
            throw run.failed(this, event);
        } else if (!event.is(kind)) {
            throw depart("has come to the " + what + ", but " + event.describe() + " is planned");
        }
        delay();
        return event;
    }

    /** Checks that this thread may do something now. */
    void check() {
        stopIfOver();
        rounds = 0;
        if (isStanding) {
            throw depart("has got past " + place + ", where it waits for ever in the recorded execution");
        } else if (current != null) {
            throw depart("goes on without saying that " + current.describe() + " is done");
        }
    }

    /** Goes on behind an event that has no turn. */
    void pass() {
        check();
        next++;
        run.moved();
        delay();
    }

    /** Goes on behind an event that has a turn. */
    void passTurn() {
        current = null;
        line = null;
        next++;
        run.nextTurn();
        delay();
    }

    /** What stops a thread that has nothing left to do in the plan. */
    Stop past(String what) {
        return run.plan.end.equals("ok") ? depart("has come to the " + what + ", but its end is planned") : new Stop();
    }

    /** Waits for ever as in the recorded execution, or stops: the plan has nothing left. At any place if it is null. */
    void stand(String at) {
        check();
        for (Plan.Waiting waiting : run.plan.waiting) {
            if (waiting.thread() == number && (at == null || waiting.place().equals(at))) {
                place = waiting.place();
                delay();
                isStanding = true;
                while (!isLetIn) {
                    stopIfOver();
                    LockSupport.park(run);
                }
                isInside = true;
                return;
            }
        }
        throw past(at == null ? "join" : "event at " + at);
    }

    /** The program fails. */
    Error fail(String message) {
        if (run.isFree()) {
            return run.failedFree(this, message);
        }
        check(current != null);
        PlannedEvent event = planned();
        if (event == null) {
            return run.plan.end.equals("ok") ? depart("fails (" + message + "), but its end is planned") : new Stop();
        } else if (!event.is("fail") || !event.value().equals(message)) {
            return depart("fails (" + message + "), but " + event.describe() + " is planned");
        }
        return run.failed(this, event);
    }

    /** The program fails; the plan says with which message. */
    Error failAsPlanned(String otherwise) {
        PlannedEvent event = planned();
        return fail(event != null && event.is("fail") ? event.value() : otherwise);
    }

    private void check(boolean isInEvent) {
        if (isInEvent) {
            stopIfOver();
        } else {
            check();
        }
    }

    void countRound() {
        stopIfOver();
        if (run.isFree()) {
            return;
        }
        PlannedEvent event = planned();
        rounds++;
        boolean isPast = run.plan.waiting.stream().noneMatch(each -> each.thread() == number);
        if (event == null && isPast && !run.plan.end.equals("ok")) {
            throw new Stop();
        } else if (event != null && event.isEndless()) {
            throw fail(event.value());
        } else if (rounds > MOST_ROUNDS) {
            throw fail(Values.TOO_LONG);
        }
    }

    /** Waits a little, if delays are asked for. */
    void delay() {
        if (random != null && !isStanding) {
            LockSupport.parkNanos(random.nextInt(1_000_000));
        }
    }
}
