import com.stripe.Stripe;
import com.stripe.model.Charge;
import com.stripe.model.File;
import java.util.Map;

class StripeJava {
    public static void main(String[] args) {
        Stripe.apiKey = System.getenv("STRIPE_SECRET_KEY");
        String base = System.getenv("STRIPE_URL");
        if (base != null) {
            Stripe.overrideApiBase(base);
            Stripe.overrideUploadBase(base);
        }
        Common.run(args, Map.of(
            "call", () -> System.out.println(
                Charge.create(Map.<String, Object>of("amount", 1999, "currency", "eur")).getDescription()),
            "upload", () -> System.out.println(File.create(
                Map.<String, Object>of("purpose", "dispute_evidence", "file", Common.FILE.toFile())).getId())));
    }
}
