import java.util.Map;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.classic.methods.HttpPut;
import org.apache.hc.client5.http.classic.methods.HttpUriRequestBase;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.apache.hc.core5.http.io.entity.FileEntity;

class ApacheHttpClient {
    // It reads the properties of Java only with this option.
    static final CloseableHttpClient client = HttpClients.createSystem();

    static <T extends HttpUriRequestBase> T to(T request) {
        request.setHeader("Authorization", Common.BEARER);
        return request;
    }

    static void read(HttpUriRequestBase request) throws Exception {
        client.execute(request, answer -> {
            Common.checked(answer.getCode(), EntityUtils.toString(answer.getEntity()));
            return null;
        });
    }

    public static void main(String[] args) {
        Common.run(args, Map.of(
            "call", () -> read(to(new HttpGet(Common.URL + "/things"))),
            "stream", () -> client.execute(to(new HttpGet(Common.URL + "/events")), answer -> {
                Common.show(answer.getEntity().getContent());
                return null;
            }),
            "upload", () -> {
                HttpPut request = to(new HttpPut(Common.URL + "/files/1"));
                request.setEntity(new FileEntity(Common.FILE.toFile(), ContentType.APPLICATION_OCTET_STREAM));
                read(request);
            }));
    }
}
