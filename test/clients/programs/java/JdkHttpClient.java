import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;

class JdkHttpClient {
    static final HttpClient client = HttpClient.newHttpClient();

    static HttpRequest.Builder to(String path) {
        return HttpRequest.newBuilder(URI.create(Common.URL + path)).header("Authorization", Common.BEARER);
    }

    static void read(HttpRequest.Builder request) throws Exception {
        HttpResponse<String> answer = client.send(request.build(), BodyHandlers.ofString());
        Common.checked(answer.statusCode(), answer.body());
    }

    public static void main(String[] args) {
        Common.run(args, Map.of(
            "call", () -> read(to("/things")),
            "stream", () -> {
                HttpResponse<InputStream> answer = client.send(to("/events").build(), BodyHandlers.ofInputStream());
                Common.show(answer.body());
            },
            "upload", () -> read(to("/files/1").PUT(HttpRequest.BodyPublishers.ofFile(Common.FILE)))));
    }
}
