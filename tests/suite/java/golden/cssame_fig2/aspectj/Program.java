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
        synchronized (L) {
            // 15: a = 1;
            a = 1;
            // 16: a = 2;
            a = 2;
            // 17: unlock(L);
        }
    }

    /** Thread `T2`, line 18. */
    static void T2() {
        // 19: lock(L);
        synchronized (L) {
            // 20: a = 3;
            a = 3;
            // 21: unlock(L);
        }
    }

    /** Thread `T3`, line 22. */
    static void T3() {
        // 23: lock(L);
        synchronized (L) {
            // 24: print(a);
            int a1 = a;
            Output.print(a1);
            // 25: unlock(L);
        }
    }
}
