package drive_cssame_fig5;

import cssame.Barrier;
import cssame.Failure;
import cssame.Lock;
import cssame.Output;
import cssame.Pi;
import cssame.Threads;
import cssame.Version;

/**
 * `samples/cssame_fig5.csm` in CSSAME form: made by cssame VERSION; do not edit.
 *
 * <p>Each version of a shared variable is a field that is assigned once. Calls of pi and phi functions are replaced
 * by the aspect {@code cssame.Latches}.
 */
public final class Program implements Runnable {
    // n@initial: no pi function shows it
    volatile int n_0;
    @Version(of = "n", at = "n@15:5")
    volatile int n_1;
    @Version(of = "n", at = "n@19:5")
    volatile int n_2;
    // n@25:23: no pi function shows it
    volatile int n_3;

    final Lock L = new Lock("L");
    final Barrier barrier_2 = new Barrier("barrier(2)", 2);

    /** The main thread, line 10. */
    @Override
    public void run() {
        // 10: int n = 1;
        n_0 = 1;
        // 12: cobegin
        Threads.fork(Threads.thread("T1", new T1()), Threads.thread("T2", new T2()), Threads.thread("T3", new T3()));
        // 28: coend
        Threads.join();
    }

    /** Thread `T1`, line 13. */
    final class T1 implements Runnable {
        @Override
        public void run() {
            // 14: lock(L);
            L.lock();
            // 15: n = 0;
            n_1 = 0;
            // 16: unlock(L);
            L.unlock();
        }
    }

    /** Thread `T2`, line 17. */
    final class T2 implements Runnable {
        @Override
        public void run() {
            // 18: lock(L);
            L.lock();
            // 19: n = 3;
            n_2 = 3;
            // 20: unlock(L);
            L.unlock();
            // 21: barrier(2);
            barrier_2.await();
        }
    }

    /** Thread `T3`, line 22. */
    final class T3 implements Runnable {
        @Override
        public void run() {
            // 23: barrier(2);
            barrier_2.await();
            // 24: lock(L);
            L.lock();
            // 25: int result = 21 / n;
            n_3 = pi_n_25_23(n_1, n_2);
            Failure.check(n_3 != 0, "division by zero at line 25");
            int result_1 = 21 / n_3;
            // 26: print(result);
            Output.print(result_1);
            // 27: unlock(L);
            L.unlock();
        }
    }

    @Pi(at = "n@25:23", terms = {"n_1", "n_2"}, control = {"n_2"})
    static int pi_n_25_23(int n_1, int n_2) {
        throw woven();
    }

    private static IllegalStateException woven() {
        return new IllegalStateException("the aspect is not woven in");
    }
}
