package drive_cssame_fig6;

import cssame.Output;
import cssame.Pi;
import cssame.Threads;
import cssame.Version;

/**
 * `samples/cssame_fig6.csm` in CSSAME form: made by cssame VERSION; do not edit.
 *
 * <p>Each version of a shared variable is a field that is assigned once. Calls of pi and phi functions are replaced
 * by the aspect {@code cssame.Latches}.
 */
public final class Program implements Runnable {
    @Version(of = "n0", at = "n0@initial")
    volatile int n0_0;
    @Version(of = "n0", at = "n0@13:5")
    volatile int n0_1;
    // n0@21:15: no pi function shows it
    volatile int n0_2;

    @Version(of = "n1", at = "n1@initial")
    volatile int n1_0;
    @Version(of = "n1", at = "n1@15:5")
    volatile int n1_1;
    // n1@21:20: no pi function shows it
    volatile int n1_2;

    @Version(of = "n2", at = "n2@initial")
    volatile int n2_0;
    @Version(of = "n2", at = "n2@17:5")
    volatile int n2_1;
    // n2@21:25: no pi function shows it
    volatile int n2_2;

    @Version(of = "n3", at = "n3@initial")
    volatile int n3_0;
    @Version(of = "n3", at = "n3@19:5")
    volatile int n3_1;
    // n3@21:30: no pi function shows it
    volatile int n3_2;

    /** The main thread, line 10. */
    @Override
    public void run() {
        // 10: int n0 = 0, n1 = 0, n2 = 0, n3 = 0;
        n0_0 = 0;
        n1_0 = 0;
        n2_0 = 0;
        n3_0 = 0;
        // 11: cobegin
        Threads.fork(Threads.thread("T1", new T1()), Threads.thread("T2", new T2()), Threads.thread("T3", new T3()), Threads.thread("T4", new T4()), Threads.thread("T5", new T5()));
        // 23: coend
        Threads.join();
    }

    /** Thread `T1`, line 12. */
    final class T1 implements Runnable {
        @Override
        public void run() {
            // 13: n0 += 1;
            n0_1 = n0_0 + 1;
        }
    }

    /** Thread `T2`, line 14. */
    final class T2 implements Runnable {
        @Override
        public void run() {
            // 15: n1 += 1;
            n1_1 = n1_0 + 1;
        }
    }

    /** Thread `T3`, line 16. */
    final class T3 implements Runnable {
        @Override
        public void run() {
            // 17: n2 += 1;
            n2_1 = n2_0 + 1;
        }
    }

    /** Thread `T4`, line 18. */
    final class T4 implements Runnable {
        @Override
        public void run() {
            // 19: n3 += 1;
            n3_1 = n3_0 + 1;
        }
    }

    /** Thread `T5`, line 20. */
    final class T5 implements Runnable {
        @Override
        public void run() {
            // 21: int sum = n0 + n1 + n2 + n3;
            n0_2 = pi_n0_21_15(n0_0, n0_1);
            n1_2 = pi_n1_21_20(n1_0, n1_1);
            n2_2 = pi_n2_21_25(n2_0, n2_1);
            n3_2 = pi_n3_21_30(n3_0, n3_1);
            int sum_1 = ((n0_2 + n1_2) + n2_2) + n3_2;
            // 22: print(sum);
            Output.print(sum_1);
        }
    }

    @Pi(at = "n0@21:15", terms = {"n0_0", "n0_1"}, control = {"n0_0"})
    static int pi_n0_21_15(int n0_0, int n0_1) {
        throw woven();
    }

    @Pi(at = "n1@21:20", terms = {"n1_0", "n1_1"}, control = {"n1_0"})
    static int pi_n1_21_20(int n1_0, int n1_1) {
        throw woven();
    }

    @Pi(at = "n2@21:25", terms = {"n2_0", "n2_1"}, control = {"n2_0"})
    static int pi_n2_21_25(int n2_0, int n2_1) {
        throw woven();
    }

    @Pi(at = "n3@21:30", terms = {"n3_0", "n3_1"}, control = {"n3_0"})
    static int pi_n3_21_30(int n3_0, int n3_1) {
        throw woven();
    }

    private static IllegalStateException woven() {
        return new IllegalStateException("the aspect is not woven in");
    }
}
