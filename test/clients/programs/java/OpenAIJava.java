import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.http.StreamResponse;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.files.FileCreateParams;
import com.openai.models.files.FilePurpose;
import java.util.Map;

class OpenAIJava {
    public static void main(String[] args) {
        OpenAIClient client = OpenAIOkHttpClient.fromEnv();
        ChatCompletionCreateParams question =
            ChatCompletionCreateParams.builder().model("gpt-5").addUserMessage("Hello").build();
        Common.run(args, Map.of(
            "call", () -> System.out.println(
                client.chat().completions().create(question).choices().get(0).message().content().get()),
            "stream", () -> {
                try (StreamResponse<ChatCompletionChunk> answer = client.chat().completions().createStreaming(question)) {
                    answer.stream().forEach(
                        piece -> System.out.println(piece.choices().get(0).delta().content().get()));
                }
            },
            "upload", () -> System.out.println(client.files().create(
                FileCreateParams.builder().file(Common.FILE).purpose(FilePurpose.USER_DATA).build()).id())));
    }
}
