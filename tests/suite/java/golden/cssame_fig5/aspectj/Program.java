package drive_cssame_fig5;

import cssame.*;
import java.util.concurrent.Phaser;

/** `cssame_fig5.csm` in Java: made by cssame VERSION. */
public final class Program {
    static volatile int n;
    static Object L;

    private Program() {}

    /** Gives all variables their first values. */
    public static void reset() {
        n = 1;
        L = new Object();
    }

    /** The main thread, line 10. */
    public static void main() {
        // 12: cobegin
        Phaser barrier_2 = new Phaser(2);
        Threads.fork("T1", () -> T1());
        Threads.fork("T2", () -> T2(barrier_2));
        Threads.fork("T3", () -> T3(barrier_2));
        // 28: coend
        Threads.join();
    }

    /** Thread `T1`, line 13. */
    static void T1() {
        // 14: lock(L);
        synchronized (L) {
            // 15: n = 0;
            n = 0;
            // 16: unlock(L);
        }
    }

    /** Thread `T2`, line 17. */
    static void T2(Phaser barrier_2) {
        // 18: lock(L);
        synchronized (L) {
            // 19: n = 3;
            n = 3;
            // 20: unlock(L);
        }
        // 21: barrier(2);
        int phase1 = barrier_2.arrive();
        barrier_2.awaitAdvance(phase1);
    }

    /** Thread `T3`, line 22. */
    static void T3(Phaser barrier_2) {
        // 23: barrier(2);
        int phase1 = barrier_2.arrive();
        barrier_2.awaitAdvance(phase1);
        // 24: lock(L);
        synchronized (L) {
            // 25: int result = 21 / n;
            int n1 = n;
            Failure.check(n1 != 0, "division by zero at line 25");
            int v1 = 21 / n1;
            int result = v1;
            // 26: print(result);
            Output.print(result);
            // 27: unlock(L);
        }
    }
}
