package cssame;

import java.util.Optional;

/** Places in the Java source of the program. */
final class Source {
    private Source() {}

    /** {@code  (Program.java:31)}: the line of the program that runs now. */
    static String here() {
        ProgramThread thread = ProgramThread.current();
        if (thread != null && thread.line != null) {
            return " (" + thread.line + ")";
        }
        Optional<StackWalker.StackFrame> frame = StackWalker.getInstance()
            .walk(frames -> frames.filter(each -> isProgram(each.getClassName(), each.getMethodName())).findFirst());
        return frame.map(each -> " (" + each.getFileName() + ":" + each.getLineNumber() + ")").orElse("");
    }

    /** The same of another thread. */
    static String of(Thread thread) {
        for (StackTraceElement each : thread.getStackTrace()) {
            if (isProgram(each.getClassName(), each.getMethodName())) {
                return " (" + each.getFileName() + ":" + each.getLineNumber() + ")";
            }
        }
        return "";
    }

    /** This thread has come to that line. */
    static void enter(String line) {
        ProgramThread.required().line = line;
    }

    /** Methods that a weaver has made do not count. */
    private static boolean isProgram(String name, String method) {
        boolean isMade = method.contains("_aroundBody") || method.startsWith("ajc$");
        return !isMade && !name.startsWith("cssame.") && !name.startsWith("java.") && !name.startsWith("jdk.");
    }
}
