package cssame;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A thread of a run. It does not keep the process alive. */
final class ProgramThread extends Thread {
    private static final long STACK = 16L << 20;

    final Run run;
    private final Runnable body;
    /** By local, the value that this thread has defined last. */
    final Map<String, Object> last = new HashMap<>();
    /** The threads that it has forked and not joined. */
    final List<ProgramThread> forked = new ArrayList<>();

    ProgramThread(Run run, String name, Runnable body) {
        super(null, null, name, STACK);
        this.run = run;
        this.body = body;
        setDaemon(true);
    }

    static ProgramThread current() {
        if (Thread.currentThread() instanceof ProgramThread thread) {
            return thread;
        }
        throw new IllegalStateException("this is no thread of a run");
    }

    @Override
    public void run() {
        String failure = null;
        try {
            body.run();
        } catch (Stop over) {
            // The run has ended before.
        } catch (Failure failed) {
            failure = failed.getMessage();
        } catch (RuntimeException | Error unexpected) {
            failure = unexpected.toString();
        }
        run.watch.over(this, failure);
    }
}
