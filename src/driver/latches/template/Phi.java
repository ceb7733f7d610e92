package cssame;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Marks a phi function: a merge of versions by control flow. The aspect replaces its calls. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Phi {
    /** The variable, as {@link Local#of} has it. */
    String of();
}
