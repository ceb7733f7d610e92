package cssame;

/** Threads of the program, and bounds for what they do by themselves. */
public final class Threads {
    private Threads() {}

    /** Makes a thread of a {@code cobegin} or {@code parfor}. */
    public static void fork(String name, Runnable body) {
        ProgramThread parent = ProgramThread.required();
        parent.forked.add(start(parent, "fork", name, body));
    }

    /** Waits for all threads that this one has forked since its last join. */
    public static void join() {
        ProgramThread parent = ProgramThread.required();
        join(parent, parent.forked.toArray(new ProgramThread[0]));
        parent.forked.clear();
    }

    /** Makes a thread that somebody may join. */
    public static Handle spawn(String name, Runnable body) {
        ProgramThread parent = ProgramThread.required();
        ProgramThread child = start(parent, "spawn", name, body);
        return new Handle(child.handle, child);
    }

    /** Waits for a spawned thread. */
    public static void join(Handle handle) {
        ProgramThread parent = ProgramThread.required();
        if (handle == null) {
            throw parent.failAsPlanned("join of a handle without a thread");
        }
        join(parent, handle.thread);
    }

    /** Begins another round of a loop without events: no thread runs for ever unnoticed. */
    public static void round() {
        ProgramThread thread = ProgramThread.current();
        if (thread != null) {
            thread.countRound();
        }
    }

    /** Begins a call of a function without events that calls itself. */
    public static void call() {
        round();
    }

    private static ProgramThread start(ProgramThread parent, String kind, String name, Runnable body) {
        if (parent.run.isFree()) {
            return parent.run.start(parent.run.nextFree(), 0, name, body);
        }
        PlannedEvent event = parent.expect(kind, kind);
        int number = Integer.parseInt(event.value());
        long handle = event.extra().isEmpty() ? number : Long.parseLong(event.extra());
        ProgramThread child = parent.run.start(number, handle, parent.run.plan.names.get(number), body);
        parent.pass();
        return child;
    }

    private static void join(ProgramThread parent, ProgramThread... children) {
        boolean isFree = parent.run.isFree();
        if (!isFree && parent.planned() == null) {
            parent.stand(null);
        } else if (!isFree) {
            parent.expect("join", "join");
        }
        for (ProgramThread child : children) {
            while (!child.isOver()) {
                try {
                    child.join();
                } catch (InterruptedException interrupt) {
                    parent.stopIfOver();
                }
            }
        }
        if (!isFree) {
            parent.pass();
        }
    }
}
