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
        Order.await("lock L@14:5");
        synchronized (L) {
            Order.held(L);
            // 15: n = 0;
            Order.await("n@15:5");
            n = 0;
            Order.done(0);
            // 16: unlock(L);
            Order.await("unlock L@16:5");
            Order.done();
        }
    }

    /** Thread `T2`, line 17. */
    static void T2(Phaser barrier_2) {
        // 18: lock(L);
        Order.await("lock L@18:5");
        synchronized (L) {
            Order.held(L);
            // 19: n = 3;
            Order.await("n@19:5");
            n = 3;
            Order.done(3);
            // 20: unlock(L);
            Order.await("unlock L@20:5");
            Order.done();
        }
        // 21: barrier(2);
        Order.await("barrier barrier@21:5");
        int phase1 = barrier_2.arrive();
        Order.done();
        Order.await("barrier barrier@21:5");
        barrier_2.awaitAdvance(phase1);
        Order.done();
    }

    /** Thread `T3`, line 22. */
    static void T3(Phaser barrier_2) {
        // 23: barrier(2);
        Order.await("barrier barrier@23:5");
        int phase1 = barrier_2.arrive();
        Order.done();
        Order.await("barrier barrier@23:5");
        barrier_2.awaitAdvance(phase1);
        Order.done();
        // 24: lock(L);
        Order.await("lock L@24:5");
        synchronized (L) {
            Order.held(L);
            // 25: int result = 21 / n;
            Order.await("n@25:23");
            int n1 = n;
            Order.done(n1);
            Failure.check(n1 != 0, "division by zero at line 25");
            int v1 = 21 / n1;
            int result = v1;
            // 26: print(result);
            Output.print(result);
            // 27: unlock(L);
            Order.await("unlock L@27:5");
            Order.done();
        }
    }
}
