package drive_cssame_fig7;

import cssame.*;

/** `cssame_fig7.csm` in Java: made by cssame VERSION. */
public final class Program {
    static volatile int a;
    static volatile int b;
    static Object L;

    private Program() {}

    /** Gives all variables their first values. */
    public static void reset() {
        a = 0;
        b = 0;
        L = new Object();
    }

    /** The main thread, line 10. */
    public static void main() {
        // 12: cobegin
        Threads.fork("T1", () -> T1());
        Threads.fork("T2", () -> T2());
        // 28: coend
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
            // 16: b = 1;
            Order.await("b@16:5");
            b = 1;
            Order.done(1);
            // 17: unlock(L);
            Order.await("unlock L@17:5");
            Order.done();
        }
    }

    /** Thread `T2`, line 18. */
    static void T2() {
        // 19: int z = 0;
        int z = 0;
        // 20: lock(L);
        Order.await("lock L@20:5");
        synchronized (L) {
            Order.held(L);
            // 21: a = 2;
            Order.await("a@21:5");
            a = 2;
            Order.done(2);
            // 22: b = 2;
            Order.await("b@22:5");
            b = 2;
            Order.done(2);
            // 23: unlock(L);
            Order.await("unlock L@23:5");
            Order.done();
        }
        // 24: lock(L);
        Order.await("lock L@24:5");
        synchronized (L) {
            Order.held(L);
            // 25: if (a == 1) z = b;
            Order.await("a@25:9");
            int a1 = a;
            Order.done(a1);
            if (a1 == 1) {
                Order.await("b@25:21");
                int b1 = b;
                Order.done(b1);
                z = b1;
            }
            // 26: print(a, z);
            Order.await("a@26:11");
            int a2 = a;
            Order.done(a2);
            Output.print(a2, z);
            // 27: unlock(L);
            Order.await("unlock L@27:5");
            Order.done();
        }
    }
}
