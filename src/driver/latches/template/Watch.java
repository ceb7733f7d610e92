package cssame;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * The watchdog of a run: it knows all threads and what each of them waits for, and ends the run when all wait.
 *
 * <p>All that threads wait for changes under the monitor of the watch. So a standstill is seen at once, and none is seen
 * where some thread can go on. {@code CSSAME_LATCH_SECONDS} (5) bounds a run in which a thread goes round and round.
 *
 * <p>{@code CSSAME_START} says when a new thread begins. {@code text}: in the order of the text, each one when all before it
 * have ended or wait, so that a test does not depend on timing. {@code reverse}: the last one first, in the same way.
 * {@code together}: all at once, as in the paper.
 */
final class Watch {
    /** What a thread waits for, and whether it still has to. */
    private record Waiting(Supplier<String> what, BooleanSupplier isBlocked) {}

    private static final Waiting NOTHING = new Waiting(() -> "runs", () -> false);
    private static final long SECONDS = Long.parseLong(setting("CSSAME_LATCH_SECONDS", "5"));
    private static final String START = setting("CSSAME_START", "text");

    /** The threads that have begun and not ended. */
    private final Map<ProgramThread, Waiting> threads = new LinkedHashMap<>();
    /** Threads that wait until those which they have started end or wait; the innermost first. */
    private final Deque<ProgramThread> starting = new ArrayDeque<>();
    private boolean isOver;
    /** Why the run is over, if it has not come to its end. */
    private String failure;

    private static String setting(String name, String otherwise) {
        return Objects.requireNonNullElse(System.getenv(name), otherwise);
    }

    /** Runs the main thread and all that it starts, and says why they do not come to their ends; null where they do. */
    synchronized String follow(ProgramThread main) {
        begin(main);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!isOver && !threads.isEmpty()) {
            long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
            if (left < 0) {
                stop("no end after " + SECONDS + " s:" + standing());
            } else {
                pause(left + 1);
            }
        }
        return failure;
    }

    /** Starts threads, which the current one will join. */
    synchronized void start(List<ProgramThread> made) {
        boolean isReverse = START.equals("reverse");
        for (int number = 0; number < made.size(); number++) {
            begin(made.get(isReverse ? made.size() - 1 - number : number));
            if (!START.equals("together")) {
                ProgramThread self = ProgramThread.current();
                starting.push(self);
                await(() -> "starts threads", () -> starting.peek() != self || !allWait());
                starting.pop();
            }
        }
    }

    private void begin(ProgramThread thread) {
        threads.put(thread, NOTHING);
        thread.start();
    }

    /** Whether all threads wait, but for those that are starting others. */
    private boolean allWait() {
        return threads.entrySet().stream()
                .allMatch(of -> starting.contains(of.getKey()) || of.getValue().isBlocked().getAsBoolean());
    }

    /** The thread waits for as long as it is blocked. */
    synchronized void await(Supplier<String> what, BooleanSupplier isBlocked) {
        beginToWait(what, isBlocked);
        while (!isOver && isBlocked.getAsBoolean()) {
            pause(0);
        }
        endWaiting();
    }

    /** The thread begins to wait. */
    synchronized void beginToWait(Supplier<String> what, BooleanSupplier isBlocked) {
        threads.put(ProgramThread.current(), new Waiting(what, isBlocked));
        look();
        stopIfOver();
    }

    /** The thread goes on. */
    synchronized void endWaiting() {
        threads.replace(ProgramThread.current(), NOTHING);
        stopIfOver();
    }

    /** Changes what threads wait for. */
    synchronized void change(Runnable change) {
        stopIfOver();
        change.run();
        notifyAll();
    }

    /** Whether a thread has not ended. */
    synchronized boolean isAlive(ProgramThread thread) {
        return threads.containsKey(thread);
    }

    /** A thread has ended; with a failure, if there is one. */
    synchronized void over(ProgramThread thread, String why) {
        threads.remove(thread);
        if (why != null) {
            stop(thread.getName() + " fails: " + why);
        }
        look();
    }

    synchronized void stopIfOver() {
        if (isOver) {
            throw new Stop();
        }
    }

    /** Where no thread can go on, the run is over. */
    private void look() {
        notifyAll();
        if (!threads.isEmpty() && threads.values().stream().allMatch(waiting -> waiting.isBlocked().getAsBoolean())) {
            stop("the threads wait for each other for ever:" + standing());
        }
    }

    private String standing() {
        StringBuilder lines = new StringBuilder();
        threads.forEach((thread, waiting) -> lines.append("\n  ").append(thread.getName()).append(' ').append(waiting.what().get()));
        return lines.toString();
    }

    private void stop(String why) {
        if (!isOver) {
            isOver = true;
            failure = why;
            threads.keySet().forEach(Thread::interrupt);
            notifyAll();
        }
    }

    private void pause(long millis) {
        try {
            wait(millis);
        } catch (InterruptedException over) {
            stopIfOver();
        }
    }
}
