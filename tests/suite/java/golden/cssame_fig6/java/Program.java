package drive_cssame_fig6;

import cssame.*;

/** `cssame_fig6.csm` in Java: made by cssame VERSION. */
public final class Program {
    static volatile int n0;
    static volatile int n1;
    static volatile int n2;
    static volatile int n3;

    private Program() {}

    /** Gives all variables their first values. */
    public static void reset() {
        n0 = 0;
        n1 = 0;
        n2 = 0;
        n3 = 0;
    }

    /** The main thread, line 10. */
    public static void main() {
        // 11: cobegin
        Threads.fork("T1", () -> T1());
        Threads.fork("T2", () -> T2());
        Threads.fork("T3", () -> T3());
        Threads.fork("T4", () -> T4());
        Threads.fork("T5", () -> T5());
        // 23: coend
        Threads.join();
    }

    /** Thread `T1`, line 12. */
    static void T1() {
        // 13: n0 += 1;
        Order.await("n0@13:5");
        int n01 = n0;
        Order.done(n01);
        int n02 = n01 + 1;
        Order.await("n0@13:5");
        n0 = n02;
        Order.done(n02);
    }

    /** Thread `T2`, line 14. */
    static void T2() {
        // 15: n1 += 1;
        Order.await("n1@15:5");
        int n11 = n1;
        Order.done(n11);
        int n12 = n11 + 1;
        Order.await("n1@15:5");
        n1 = n12;
        Order.done(n12);
    }

    /** Thread `T3`, line 16. */
    static void T3() {
        // 17: n2 += 1;
        Order.await("n2@17:5");
        int n21 = n2;
        Order.done(n21);
        int n22 = n21 + 1;
        Order.await("n2@17:5");
        n2 = n22;
        Order.done(n22);
    }

    /** Thread `T4`, line 18. */
    static void T4() {
        // 19: n3 += 1;
        Order.await("n3@19:5");
        int n31 = n3;
        Order.done(n31);
        int n32 = n31 + 1;
        Order.await("n3@19:5");
        n3 = n32;
        Order.done(n32);
    }

    /** Thread `T5`, line 20. */
    static void T5() {
        // 21: int sum = n0 + n1 + n2 + n3;
        Order.await("n0@21:15");
        int n01 = n0;
        Order.done(n01);
        Order.await("n1@21:20");
        int n11 = n1;
        Order.done(n11);
        Order.await("n2@21:25");
        int n21 = n2;
        Order.done(n21);
        Order.await("n3@21:30");
        int n31 = n3;
        Order.done(n31);
        int sum = ((n01 + n11) + n21) + n31;
        // 22: print(sum);
        Output.print(sum);
    }
}
