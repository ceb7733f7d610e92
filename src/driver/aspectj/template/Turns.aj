package cssame;

import org.aspectj.lang.JoinPoint;

/**
 * Keeps the program in the order of its plan: waits before each event until it has its turn, and compares what is read
 * and written with the plan. Which join points are events is said by {@link Places}; all others go on untouched.
 *
 * <p>A lock is waited for before it is taken, not inside it.
 */
aspect Turns {
    pointcut program(): !within(cssame..*);

    // A final field is written by its initialiser alone, and that is no event.
    pointcut write(): set(!final * *.*);

    pointcut operation():
        call(* cssame.Lock.*(..)) || call(* cssame.RwLock.*(..)) || call(* cssame.Event.*(..))
        || call(* cssame.Condition.*(..)) || call(* java.util.concurrent.Phaser.*(..))
        || call(* java.util.concurrent.Semaphore.*(..));

    pointcut element(): call(* cssame.Array.*(int, ..));

    pointcut cell(): call(* cssame.Cell.*(..));

    Object around(): program() && get(* *.*) {
        String place = begin(thisJoinPointStaticPart);
        Object value = proceed();
        if (place != null) {
            Order.finish(value);
        }
        return value;
    }

    Object around(Object value): program() && write() && args(value) {
        String place = begin(thisJoinPointStaticPart);
        Object result = proceed(value);
        if (place != null) {
            Order.finish(value);
        }
        return result;
    }

    Object around(Object target): program() && operation() && target(target) {
        String place = begin(thisJoinPointStaticPart);
        Object result = proceed(target);
        if (place != null) {
            Effects.operation(thisJoinPointStaticPart.getSignature().getName(), target, result);
        }
        return result;
    }

    Object around(int index): program() && element() && args(index, ..) {
        String place = begin(thisJoinPointStaticPart, index);
        Object result = proceed(index);
        if (place != null) {
            Effects.access(thisJoinPointStaticPart.getSignature().getName(), thisJoinPoint.getArgs(), 1, result);
        }
        return result;
    }

    Object around(): program() && cell() {
        String place = begin(thisJoinPointStaticPart);
        Object result = proceed();
        if (place != null) {
            Effects.access(thisJoinPointStaticPart.getSignature().getName(), thisJoinPoint.getArgs(), 0, result);
        }
        return result;
    }

    before(): program() && lock() {
        String place = place(thisJoinPointStaticPart);
        if (Places.ATOMIC.equals(place)) {
            Order.turn();
        } else {
            begin(thisJoinPointStaticPart);
        }
    }

    after(Object monitor) returning: program() && lock() && args(monitor) {
        String place = place(thisJoinPointStaticPart);
        if (place != null && !place.equals(Places.ATOMIC)) {
            Order.held(monitor);
        }
    }

    before(): program() && unlock() {
        begin(thisJoinPointStaticPart);
    }

    after() returning: program() && unlock() {
        if (place(thisJoinPointStaticPart) != null) {
            Order.done();
        }
    }

    /** Waits for the turn of an event; its place, or {@code null} if the join point is none. */
    private static String begin(JoinPoint.StaticPart point) {
        String place = place(point);
        if (place != null) {
            Source.enter(point.getSourceLocation().toString());
            Order.awaitField(place);
        }
        return place;
    }

    private static String begin(JoinPoint.StaticPart point, int index) {
        String place = place(point);
        if (place != null) {
            Source.enter(point.getSourceLocation().toString());
            if (place.endsWith("[*]")) {
                Order.awaitField(place.substring(0, place.length() - 3));
            } else {
                Order.await(place, index);
            }
        }
        return place;
    }

    /** A thread that stops gives its monitors back without a turn: nothing may be thrown there again. */
    private static String place(JoinPoint.StaticPart point) {
        ProgramThread thread = ProgramThread.following();
        return thread == null || thread.isStopping ? null : Places.of(point, thread.planned());
    }
}
