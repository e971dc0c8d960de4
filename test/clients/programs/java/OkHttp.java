import java.util.Map;
import okhttp3.MediaType;
import okhttp3.MultipartBody;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;

class OkHttp {
    static final OkHttpClient client = new OkHttpClient();

    static Request.Builder to(String path) {
        return new Request.Builder().url(Common.URL + path).header("Authorization", Common.BEARER);
    }

    static void read(Request.Builder request) throws Exception {
        Response answer = client.newCall(request.build()).execute();
        Common.checked(answer.code(), answer.body().string());
    }

    public static void main(String[] args) {
        Common.run(args, Map.of(
            "call", () -> read(to("/things")),
            "stream", () -> Common.show(client.newCall(to("/events").build()).execute().body().byteStream()),
            "upload", () -> {
                RequestBody file = RequestBody.create(Common.FILE.toFile(), MediaType.get("application/octet-stream"));
                MultipartBody.Builder form = new MultipartBody.Builder().setType(MultipartBody.FORM);
                read(to("/files").post(form.addFormDataPart("file", "file.bin", file).build()));
            }));
    }
}
