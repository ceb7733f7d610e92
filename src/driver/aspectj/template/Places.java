package cssame;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.aspectj.lang.JoinPoint;
import org.aspectj.lang.reflect.SourceLocation;

/**
 * Which join points of the program are events of plans: the table {@code places.txt}.
 *
 * <p>A line of it has the source file ({@code drive_fig2/Program.java}), the line, the kind of join point ({@code get},
 * {@code set}, {@code call}, {@code lock}, {@code unlock}), the name of the field or method ({@code -} for the last two
 * kinds), and the place that plans name ({@code a@6:24}), with tabs between.
 */
final class Places {
    private static final Map<String, String> TABLE = read();

    private Places() {}

    private static Map<String, String> read() {
        Map<String, String> table = new HashMap<>();
        try (InputStream stream = Places.class.getResourceAsStream("/places.txt")) {
            if (stream == null) {
                throw new IllegalStateException("there is no resource /places.txt");
            }
            BufferedReader lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                int end = line.lastIndexOf('\t');
                if (end > 0) {
                    table.put(line.substring(0, end), line.substring(end + 1));
                }
            }
            return table;
        } catch (IOException error) {
            throw new IllegalStateException("/places.txt cannot be read", error);
        }
    }

    /** The place of an event; {@code null} for a join point that is none. */
    static String of(JoinPoint.StaticPart point) {
        SourceLocation source = point.getSourceLocation();
        String folder = source.getWithinType().getPackageName().replace('.', '/');
        String member = switch (point.getKind()) {
            case JoinPoint.FIELD_GET -> "get\t" + point.getSignature().getName();
            case JoinPoint.FIELD_SET -> "set\t" + point.getSignature().getName();
            case JoinPoint.METHOD_CALL -> "call\t" + point.getSignature().getName();
            case JoinPoint.SYNCHRONIZATION_LOCK -> "lock\t-";
            default -> "unlock\t-";
        };
        return TABLE.get(folder + "/" + source.getFileName() + "\t" + source.getLine() + "\t" + member);
    }
}
