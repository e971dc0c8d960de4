/** What went wrong, in words, with its code and what to do about it. */
import { AskError } from '../../keys/ask.ts'
import { helpFor, texts } from '../../texts/index.ts'

export function FailureNote({ error }: { error: unknown }) {
  const { said, help } = wordsOf(error)
  return (
    <div className="note note-danger" role="alert">
      <p>{said}</p>
      {help ? <p className="soft">{help}</p> : null}
      {error instanceof AskError ? (
        <p className="soft small">
          <code>{error.code}</code>
          {error.requestId ? <> · {error.requestId}</> : null}
        </p>
      ) : null}
    </div>
  )
}

function wordsOf(error: unknown): { said: string; help?: string | undefined } {
  if (!(error instanceof AskError)) return { said: texts.errors.internal.said }
  const { said, help } = helpFor(error.code)
  return { said: said ?? error.message, help }
}
