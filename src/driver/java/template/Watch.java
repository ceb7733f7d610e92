package cssame;

import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/** Waits for the end of a run, and lets the threads of a recorded deadlock into it one after another. */
final class Watch {
    /** A thread waits for ever that was seen waiting so many times. */
    private static final int LOOKS = 3;
    private static final long BETWEEN_LOOKS_MILLIS = 10;
    private static final long LET_IN_MILLIS = 2;
    private static final long STOP_MILLIS = 1000;

    private final Run run;
    /** The threads of the deadlock in the order in which they are let in. */
    private final List<Plan.Waiting> waiting;
    /** How many threads of the deadlock are known to wait. */
    private int known;
    private int looks;

    Watch(Run run) {
        this.run = run;
        // Readers may wait for a writer that does no more than wait: writers are let in first.
        waiting = run.isFree()
            ? List.of()
            : run.plan.waiting.stream().sorted(Comparator.comparing(each -> !each.place().startsWith("wrlock "))).toList();
    }

    /** Waits until all threads are over, or wait for ever as planned; or the run has departed from its plan. */
    void untilEnd() {
        while (!run.isOver() && !isEnd()) {
            boolean isLetting = !run.isFree() && isDone() && known < waiting.size();
            pause(isLetting ? LET_IN_MILLIS : BETWEEN_LOOKS_MILLIS);
            if (!run.isOver() && run.stillFor() > run.patience()) {
                giveUp();
            }
        }
        boolean isAsPlanned = run.departure() == null && run.failure() == null;
        run.finish();
        if (!isAsPlanned) {
            awaitStops();
        }
    }

    private void pause(long millis) {
        try {
            synchronized (run) {
                run.wait(millis);
            }
        } catch (InterruptedException interrupt) {
            run.depart("the test was interrupted");
        }
    }

    /** Whether the plan has no more turns. */
    private boolean isDone() {
        return run.turn() >= run.plan.timed.size();
    }

    private boolean isEnd() {
        List<ProgramThread> threads = run.threads();
        if (isTrueOfAll(threads, ProgramThread::isOver)) {
            return true;
        } else if (run.isFree()) {
            return isFreeDeadlock(threads);
        }
        return run.plan.end.equals("deadlock") && isDone() && isDeadlock(threads);
    }

    /** Whether this holds for all threads. One that was started since the list was made is missing in it. */
    private boolean isTrueOfAll(List<ProgramThread> threads, Predicate<ProgramThread> holds) {
        return threads.stream().allMatch(holds) && run.threads().size() == threads.size();
    }

    private boolean isDeadlock(List<ProgramThread> threads) {
        if (known < waiting.size()) {
            letIn(threads);
            return false;
        }
        return isSeen(isTrueOfAll(threads, each -> each.isOver() || each.isInside && isBlocked(each)));
    }

    /** Lets the next thread of the deadlock in, or looks whether the last one waits. */
    private void letIn(List<ProgramThread> threads) {
        int number = waiting.get(known).thread();
        for (ProgramThread thread : threads) {
            if (thread.number != number) {
                continue;
            } else if (thread.isOver()) {
                known++;
            } else if (thread.isStanding && !thread.isLetIn) {
                thread.isLetIn = true;
                looks = 0;
                LockSupport.unpark(thread);
            } else if (isSeen(thread.isInside && isBlocked(thread))) {
                known++;
                looks = 0;
                run.moved();
            }
        }
    }

    private boolean isFreeDeadlock(List<ProgramThread> threads) {
        if (!isSeen(isTrueOfAll(threads, each -> each.isOver() || isBlocked(each)))) {
            return false;
        }
        run.failedFree(threads.get(0), "deadlock:" + report());
        return true;
    }

    private boolean isSeen(boolean now) {
        looks = now ? looks + 1 : 0;
        return looks >= LOOKS;
    }

    private static boolean isBlocked(Thread thread) {
        return switch (thread.getState()) {
            case BLOCKED, WAITING -> true;
            default -> false;
        };
    }

    /** Nothing has moved for too long. */
    private void giveUp() {
        long seconds = TimeUnit.NANOSECONDS.toSeconds(run.patience());
        String still = "nothing has moved for " + seconds + " s";
        if (run.isFree()) {
            run.failedFree(run.threads().get(0), still + ":" + report());
            return;
        }
        String missing = "";
        if (!isDone()) {
            PlannedEvent event = run.plan.timed.get(run.turn());
            missing = "; " + event.describe() + " by " + run.plan.names.get(event.thread()) + " is to come next";
        }
        run.depart(still + missing + ":" + report());
    }

    /** Where each thread stands. */
    private String report() {
        StringBuilder report = new StringBuilder();
        for (ProgramThread thread : run.threads()) {
            if (thread.isOver()) {
                continue;
            }
            report.append("\n  ").append(thread.getName()).append(" (").append(thread.getState()).append(')');
            report.append(Source.of(thread));
            if (!run.isFree()) {
                PlannedEvent event = thread.planned();
                String planned = event == null ? "nothing more" : event.describe();
                report.append(" has come to ").append(thread.place).append("; planned is ").append(planned);
            }
        }
        return report.toString();
    }

    /** Gives the threads a moment to stop, so that they do not disturb a later run. */
    private void awaitStops() {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(STOP_MILLIS);
        while (System.nanoTime() < until && run.threads().stream().anyMatch(each -> !each.isOver() && !isLost(each))) {
            pause(1);
        }
    }

    /** Whether a thread waits for a monitor: it stops when it gets it. */
    private static boolean isLost(Thread thread) {
        return thread.getState() == Thread.State.BLOCKED;
    }
}
