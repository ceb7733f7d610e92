package drive_cssame_fig7;

import cssame.Run;
import org.junit.jupiter.api.Test;

/**
 * The futures of `cssame_fig7.csm`: made by cssame VERSION.
 *
 * <p>A test follows one recorded execution; its plan is `src/test/resources/plans/NAME.plan`.
 */
class FuturesTest {
    /**
     * `a@25:9` (line 25: `if (a == 1) z = b;`) reads from `a@15:5` (line 15: `a = 1;`).
     * `b@25:21` (line 25: `if (a == 1) z = b;`) reads from `b@16:5` (line 16: `b = 1;`).
     * `a@26:11` (line 26: `print(a, z);`) reads from `a@15:5` (line 15: `a = 1;`).
     * No other pi function takes the write of a parallel thread.
     *
     * Schedule: main: fork at 12:1; T2: lock L at 20:5, write a at 21:5, write b at 22:5, unlock L at 23:5; T1: lock
     * L at 14:5, write a at 15:5, write b at 16:5, unlock L at 17:5; T2: lock L at 24:5, read a at 25:9, read b at
     * 25:21, read a at 26:11, print at 26:5; main: join at 28:1.
     *
     * It ends well.
     */
    @Test
    void a_25_9_from_a_15_5() {
        Run.follow("a_25_9_from_a_15_5", Program::reset, Program::main, true);
    }

    /**
     * `a@25:9` (line 25: `if (a == 1) z = b;`) reads from `a@21:5` (line 21: `a = 2;`).
     * `a@26:11` (line 26: `print(a, z);`) reads from `a@21:5` (line 21: `a = 2;`).
     * No other pi function takes the write of a parallel thread.
     *
     * Schedule: main: fork at 12:1; T2: lock L at 20:5, write a at 21:5, write b at 22:5, unlock L at 23:5, lock L
     * at 24:5, read a at 25:9, read a at 26:11, print at 26:5; T1: lock L at 14:5, write a at 15:5, write b at 16:5,
     * unlock L at 17:5; main: join at 28:1.
     *
     * It ends well.
     */
    @Test
    void a_25_9_from_a_21_5() {
        Run.follow("a_25_9_from_a_21_5", Program::reset, Program::main, true);
    }
}
