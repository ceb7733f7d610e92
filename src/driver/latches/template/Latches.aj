package cssame;

/**
 * The aspect of the paper (figure 4), for all tests of the package: which version a pi function gives is not written here,
 * it is what the running test has selected.
 */
public aspect Latches {
    /** The definition of a version opens its latch. */
    after(Object value): set(@Version * *) && args(value) {
        Run.current().define(thisJoinPointStaticPart.getSignature().getName(), value);
    }

    /** A pi function gives the version that the test selects, as soon as its latch is open. */
    Object around(Pi pi): call(@Pi * *(..)) && @annotation(pi) {
        return Run.current().pi(pi);
    }

    /** What this thread has defined last of a local. */
    after(Local local, Object value): set(@Local * *) && @annotation(local) && args(value) {
        Run.current().assign(local, value);
    }

    /** A phi function gives that. */
    Object around(Phi phi): call(@Phi * *(..)) && @annotation(phi) {
        return Run.current().phi(phi);
    }
}
