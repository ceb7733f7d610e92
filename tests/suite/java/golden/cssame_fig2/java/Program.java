package drive_cssame_fig2;

import cssame.*;

/** `cssame_fig2.csm` in Java: made by cssame VERSION. */
public final class Program {
    static volatile int a;
    static Object L;

    private Program() {}

    /** Gives all variables their first values. */
    public static void reset() {
        a = 0;
        L = new Object();
    }

    /** The main thread, line 10. */
    public static void main() {
        // 12: cobegin
        Threads.fork("T1", () -> T1());
        Threads.fork("T2", () -> T2());
        Threads.fork("T3", () -> T3());
        // 26: coend
        Threads.join();
    }

    /** Thread `T1`, line 13. */
    static void T1() {
        // 14: lock(L);
        Order.await("lock L@14:5");
        synchronized (L) {
            Order.held(L);
            // 15: a = 1;
            Order.await("a@15:5");
            a = 1;
            Order.done(1);
            // 16: a = 2;
            Order.await("a@16:5");
            a = 2;
            Order.done(2);
            // 17: unlock(L);
            Order.await("unlock L@17:5");
            Order.done();
        }
    }

    /** Thread `T2`, line 18. */
    static void T2() {
        // 19: lock(L);
        Order.await("lock L@19:5");
        synchronized (L) {
            Order.held(L);
            // 20: a = 3;
            Order.await("a@20:5");
            a = 3;
            Order.done(3);
            // 21: unlock(L);
            Order.await("unlock L@21:5");
            Order.done();
        }
    }

    /** Thread `T3`, line 22. */
    static void T3() {
        // 23: lock(L);
        Order.await("lock L@23:5");
        synchronized (L) {
            Order.held(L);
            // 24: print(a);
            Order.await("a@24:11");
            int a1 = a;
            Order.done(a1);
            Output.print(a1);
            // 25: unlock(L);
            Order.await("unlock L@25:5");
            Order.done();
        }
    }
}
