package drive_cssame_fig7;

import cssame.Local;
import cssame.Lock;
import cssame.Output;
import cssame.Phi;
import cssame.Pi;
import cssame.Threads;
import cssame.Version;

/**
 * `samples/cssame_fig7.csm` in CSSAME form: made by cssame VERSION; do not edit.
 *
 * <p>Each version of a shared variable is a field that is assigned once. Calls of pi and phi functions are replaced
 * by the aspect {@code cssame.Latches}.
 */
public final class Program implements Runnable {
    // a@initial: no pi function shows it
    volatile int a_0;
    @Version(of = "a", at = "a@15:5")
    volatile int a_1;
    @Version(of = "a", at = "a@21:5")
    volatile int a_2;
    // a@25:9: no pi function shows it
    volatile int a_3;

    // b@initial: no pi function shows it
    volatile int b_0;
    @Version(of = "b", at = "b@16:5")
    volatile int b_1;
    @Version(of = "b", at = "b@22:5")
    volatile int b_2;
    // b@25:21: no pi function shows it
    volatile int b_3;

    @Local(of = "z", at = "z@19:9")
    int z_1;
    @Local(of = "z", at = "z@25:17")
    int z_2;
    @Local(of = "z", at = "phi")
    int z_3;

    final Lock L = new Lock("L");

    /** The main thread, line 10. */
    @Override
    public void run() {
        // 10: int a, b;
        a_0 = 0;
        b_0 = 0;
        // 12: cobegin
        Threads.fork(Threads.thread("T1", new T1()), Threads.thread("T2", new T2()));
        // 28: coend
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
            // 16: b = 1;
            b_1 = 1;
            // 17: unlock(L);
            L.unlock();
        }
    }

    /** Thread `T2`, line 18. */
    final class T2 implements Runnable {
        @Override
        public void run() {
            // 19: int z = 0;
            z_1 = 0;
            // 20: lock(L);
            L.lock();
            // 21: a = 2;
            a_2 = 2;
            // 22: b = 2;
            b_2 = 2;
            // 23: unlock(L);
            L.unlock();
            // 24: lock(L);
            L.lock();
            // 25: if (a == 1) z = b;
            a_3 = pi_a_25_9(a_1, a_2);
            if (a_3 == 1) {
                b_3 = pi_b_25_21(b_1, b_2);
                z_2 = b_3;
            }
            z_3 = phi_z_3(z_1, z_2);
            // 26: print(a, z);
            Output.print(a_3, z_3);
            // 27: unlock(L);
            L.unlock();
        }
    }

    @Pi(at = "a@25:9", terms = {"a_1", "a_2"}, control = {"a_2"})
    static int pi_a_25_9(int a_1, int a_2) {
        throw woven();
    }

    @Pi(at = "b@25:21", terms = {"b_1", "b_2"}, control = {"b_2"})
    static int pi_b_25_21(int b_1, int b_2) {
        throw woven();
    }

    @Phi(of = "z")
    static int phi_z_3(int z_1, int z_2) {
        throw woven();
    }

    private static IllegalStateException woven() {
        return new IllegalStateException("the aspect is not woven in");
    }
}
