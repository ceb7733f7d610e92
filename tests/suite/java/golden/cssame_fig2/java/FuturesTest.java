package drive_cssame_fig2;

import cssame.Run;
import org.junit.jupiter.api.Test;

/**
 * The futures of `cssame_fig2.csm`: made by cssame VERSION.
 *
 * <p>A test follows one recorded execution; its plan is `src/test/resources/plans/NAME.plan`.
 */
class FuturesTest {
    /**
     * `a@24:11` (line 24: `print(a);`) reads from `a@initial` (line 10: `int a = 0;`).
     * No other pi function takes the write of a parallel thread.
     *
     * Schedule: main: fork at 12:1; T3: lock L at 23:5, read a at 24:11, print at 24:5; T1: lock L at 14:5, write a
     * at 15:5, write a at 16:5, unlock L at 17:5; T2: lock L at 19:5, write a at 20:5, unlock L at 21:5; main: join
     * at 26:1.
     *
     * It ends well.
     */
    @Test
    void a_24_11_from_a_initial() {
        Run.follow("a_24_11_from_a_initial", Program::reset, Program::main, true);
    }

    /**
     * `a@24:11` (line 24: `print(a);`) reads from `a@16:5` (line 16: `a = 2;`).
     * No other pi function takes the write of a parallel thread.
     *
     * Schedule: main: fork at 12:1; T1: lock L at 14:5, write a at 15:5, write a at 16:5, unlock L at 17:5; T3: lock
     * L at 23:5, read a at 24:11, print at 24:5; T2: lock L at 19:5, write a at 20:5, unlock L at 21:5; main: join
     * at 26:1.
     *
     * It ends well.
     */
    @Test
    void a_24_11_from_a_16_5() {
        Run.follow("a_24_11_from_a_16_5", Program::reset, Program::main, true);
    }

    /**
     * `a@24:11` (line 24: `print(a);`) reads from `a@20:5` (line 20: `a = 3;`).
     * No other pi function takes the write of a parallel thread.
     *
     * Schedule: main: fork at 12:1; T2: lock L at 19:5, write a at 20:5, unlock L at 21:5; T3: lock L at 23:5, read
     * a at 24:11, print at 24:5; T1: lock L at 14:5, write a at 15:5, write a at 16:5, unlock L at 17:5; main: join
     * at 26:1.
     *
     * It ends well.
     */
    @Test
    void a_24_11_from_a_20_5() {
        Run.follow("a_24_11_from_a_20_5", Program::reset, Program::main, true);
    }
}
