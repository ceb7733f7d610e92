package cssame;

import java.util.Arrays;
import java.util.stream.Collectors;

/** What the program prints. */
public final class Output {
    private Output() {}

    /** A line of this thread's output: the parts with one space between. */
    public static void print(Object... parts) {
        Run.current().print(Arrays.stream(parts).map(Output::text).collect(Collectors.joining(" ")));
    }

    private static String text(Object part) {
        return part instanceof Double number ? Text.of(number) : String.valueOf(part);
    }
}
