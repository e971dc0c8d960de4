/** The address of a call, with its host in front. */
type Props = { method?: string; host: string; path: string }

export function UrlText({ method, host, path }: Props) {
  return (
    <span className="flex min-w-0 items-center" title={`${host}${path}`}>
      {method ? (
        <span className="w-10 shrink-0 font-mono text-caption font-medium text-ink-2">
          {method}
        </span>
      ) : null}
      <span className="truncate text-ink-3">
        <span className="font-medium text-ink">{host}</span>
        {path}
      </span>
    </span>
  )
}
