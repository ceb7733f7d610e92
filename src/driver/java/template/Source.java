package cssame;

import java.util.Optional;

/** Places in the Java source of the program. */
final class Source {
    private Source() {}

    /** {@code  (Program.java:31)}: the line of the program that runs now. */
    static String here() {
        Optional<StackWalker.StackFrame> frame = StackWalker.getInstance()
            .walk(frames -> frames.filter(each -> isProgram(each.getClassName())).findFirst());
        return frame.map(each -> " (" + each.getFileName() + ":" + each.getLineNumber() + ")").orElse("");
    }

    /** The same of another thread. */
    static String of(Thread thread) {
        for (StackTraceElement each : thread.getStackTrace()) {
            if (isProgram(each.getClassName())) {
                return " (" + each.getFileName() + ":" + each.getLineNumber() + ")";
            }
        }
        return "";
    }

    private static boolean isProgram(String name) {
        return !name.startsWith("cssame.") && !name.startsWith("java.") && !name.startsWith("jdk.");
    }
}
