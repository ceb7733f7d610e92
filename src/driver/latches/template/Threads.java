package cssame;

import java.util.List;

/** What the program does with threads. */
public final class Threads {
    private Threads() {}

    /** A thread of that name. */
    public static Handle thread(String name, Runnable body) {
        Run run = Run.current();
        return new Handle(new ProgramThread(run, run.pathOf(name), body));
    }

    /** Starts the threads of a {@code cobegin}. */
    public static void fork(Handle... threads) {
        List<ProgramThread> made = List.of(threads).stream().map(handle -> handle.thread).toList();
        ProgramThread self = ProgramThread.current();
        self.forked.addAll(made);
        self.run.watch.start(made);
    }

    /** Waits for all threads that this one has forked. */
    public static void join() {
        ProgramThread self = ProgramThread.current();
        self.forked.forEach(Threads::join);
        self.forked.clear();
    }

    /** Starts a thread that nobody waits for by itself. */
    public static Handle spawn(Handle handle) {
        ProgramThread.current().run.watch.start(List.of(handle.thread));
        return handle;
    }

    /** Waits for the end of a thread. */
    public static void join(Handle handle) {
        Failure.check(handle != null, "the handle is empty");
        join(handle.thread);
    }

    private static void join(ProgramThread thread) {
        Watch watch = thread.run.watch;
        watch.await(() -> "waits for the end of " + thread.getName(), () -> watch.isAlive(thread));
    }

    /** In a loop: ends the thread where the run is over. */
    public static void round() {
        Run.current().watch.stopIfOver();
    }
}
