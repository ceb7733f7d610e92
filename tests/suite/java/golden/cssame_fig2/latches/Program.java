package drive_cssame_fig2;

import cssame.Lock;
import cssame.Output;
import cssame.Pi;
import cssame.Threads;
import cssame.Version;

/**
 * `samples/cssame_fig2.csm` in CSSAME form: made by cssame VERSION; do not edit.
 *
 * <p>Each version of a shared variable is a field that is assigned once. Calls of pi and phi functions are replaced
 * by the aspect {@code cssame.Latches}.
 */
public final class Program implements Runnable {
    @Version(of = "a", at = "a@initial")
    volatile int a_0;
    // a@15:5: no pi function shows it
    volatile int a_1;
    @Version(of = "a", at = "a@16:5")
    volatile int a_2;
    @Version(of = "a", at = "a@20:5")
    volatile int a_3;
    // a@24:11: no pi function shows it
    volatile int a_4;

    final Lock L = new Lock("L");

    /** The main thread, line 10. */
    @Override
    public void run() {
        // 10: int a = 0;
        a_0 = 0;
        // 12: cobegin
        Threads.fork(Threads.thread("T1", new T1()), Threads.thread("T2", new T2()), Threads.thread("T3", new T3()));
        // 26: coend
        Threads.join();
    }

    /** Thread `T1`, line 13. */
    final class T1 implements Runnable {
        @Override
        public void run() {
            // 14: lock(L);
            L.lock();
            // 15: a = 1;
            a_1 = 1;
            // 16: a = 2;
            a_2 = 2;
            // 17: unlock(L);
            L.unlock();
        }
    }

    /** Thread `T2`, line 18. */
    final class T2 implements Runnable {
        @Override
        public void run() {
            // 19: lock(L);
            L.lock();
            // 20: a = 3;
            a_3 = 3;
            // 21: unlock(L);
            L.unlock();
        }
    }

    /** Thread `T3`, line 22. */
    final class T3 implements Runnable {
        @Override
        public void run() {
            // 23: lock(L);
            L.lock();
            // 24: print(a);
            a_4 = pi_a_24_11(a_0, a_2, a_3);
            Output.print(a_4);
            // 25: unlock(L);
            L.unlock();
        }
    }

    @Pi(at = "a@24:11", terms = {"a_0", "a_2", "a_3"}, control = {"a_0"})
    static int pi_a_24_11(int a_0, int a_2, int a_3) {
        throw woven();
    }

    private static IllegalStateException woven() {
        return new IllegalStateException("the aspect is not woven in");
    }
}
