package cssame;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.aspectj.lang.JoinPoint;
import org.aspectj.lang.reflect.SourceLocation;

/**
 * Which join points of the program are events of plans: the table {@code places.txt}.
 *
 * <p>A line of it has the source file ({@code drive_fig2/Program.java}), the line, the kind of join point ({@code get},
 * {@code set}, {@code call}, {@code lock}, {@code unlock}), the name of the field or method ({@code -} for the last two
 * kinds), and the place that plans name ({@code a@6:24}), with tabs between. {@code [*]} behind it means that the
 * argument of the call is not the element as plans count it; the place of an atomic block is {@code -}.
 */
final class Places {
    /** The place of an atomic block, which is no event itself. */
    static final String ATOMIC = "-";

    private static final Map<String, List<String>> TABLE = read();

    private Places() {}

    private static Map<String, List<String>> read() {
        Map<String, List<String>> table = new HashMap<>();
        try (InputStream stream = Places.class.getResourceAsStream("/places.txt")) {
            if (stream == null) {
                throw new IllegalStateException("there is no resource /places.txt");
            }
            BufferedReader lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                int end = line.lastIndexOf('\t');
                if (end > 0) {
                    String key = line.substring(0, end);
                    table.computeIfAbsent(key, each -> new ArrayList<>()).add(line.substring(end + 1));
                }
            }
            return table;
        } catch (IOException error) {
            throw new IllegalStateException("/places.txt cannot be read", error);
        }
    }

    /** The place of an event: of several, such as unlocks by one jump, the planned one; {@code null} for no event. */
    static String of(JoinPoint.StaticPart point, PlannedEvent planned) {
        SourceLocation source = point.getSourceLocation();
        String folder = source.getWithinType().getPackageName().replace('.', '/');
        String member = switch (point.getKind()) {
            case JoinPoint.FIELD_GET -> "get\t" + point.getSignature().getName();
            case JoinPoint.FIELD_SET -> "set\t" + point.getSignature().getName();
            case JoinPoint.METHOD_CALL -> "call\t" + point.getSignature().getName();
            case JoinPoint.SYNCHRONIZATION_LOCK -> "lock\t-";
            default -> "unlock\t-";
        };
        List<String> places = TABLE.get(folder + "/" + source.getFileName() + "\t" + source.getLine() + "\t" + member);
        if (places == null) {
            return null;
        }
        return planned != null && places.contains(planned.place()) ? planned.place() : places.get(0);
    }
}
