package cssame;

/** A handle of a thread. */
public final class Handle {
    final ProgramThread thread;

    Handle(ProgramThread thread) {
        this.thread = thread;
    }
}
