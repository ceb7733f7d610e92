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
        synchronized (L) {
            // 15: a = 1;
            a = 1;
            // 16: b = 1;
            b = 1;
            // 17: unlock(L);
        }
    }

    /** Thread `T2`, line 18. */
    static void T2() {
        // 19: int z = 0;
        int z = 0;
        // 20: lock(L);
        synchronized (L) {
            // 21: a = 2;
            a = 2;
            // 22: b = 2;
            b = 2;
            // 23: unlock(L);
        }
        // 24: lock(L);
        synchronized (L) {
            // 25: if (a == 1) z = b;
            int a1 = a;
            if (a1 == 1) {
                int b1 = b;
                z = b1;
            }
            // 26: print(a, z);
            int a2 = a;
            Output.print(a2, z);
            // 27: unlock(L);
        }
    }
}
