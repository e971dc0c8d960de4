/** The first call in three columns: what the agent sent, what the API received, and what the agent got back. */
import { LoaderCircle } from 'lucide-react'
import type { ReactNode } from 'react'
import { placeholderOf } from '../../../../core/names/secret_name.ts'
import { Icon } from '../../parts/icon.tsx'
import { LinkButton } from '../../parts/link_button.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { Tag } from '../../parts/show/tag.tsx'
import { UrlText } from '../../parts/show/url.tsx'
import { texts } from '../../texts/index.ts'
import { CallStatus } from '../live/call.tsx'
import { CallLine } from '../live/call_line.tsx'
import { type LiveCall, useLiveCalls } from '../live/stream.ts'
import { callHostOf, callPathOf, isCall, isRefused, secretsOf } from '../live/words.ts'

const words = texts.firstSteps.call

export function FirstAnswer({ workspaceId, tokenId }: { workspaceId: string; tokenId: string }) {
  const { calls } = useLiveCalls(workspaceId)
  const made = calls.filter((call) => isCall(call) && call.token_id === tokenId)
  const [last] = made
  const first = made.find((call) => call.status_code !== null && !isRefused(call))
  if (!first) {
    return (
      <div role="status" className="flex flex-col gap-2 rounded-card border border-line px-4 py-3">
        <p className="flex items-center gap-2 font-medium">
          <span className="inline-flex animate-[spin_1.6s_linear_infinite] text-ink-3">
            <Icon of={LoaderCircle} />
          </span>
          {words.waiting}
        </p>
        {last && isRefused(last) ? <CallLine call={last} /> : null}
      </div>
    )
  }
  return (
    <section aria-label={words.answer} className="flex flex-col gap-3">
      <ThreeColumns call={first} />
      <Banner kind="good">
        <p>{words.done}</p>
      </Banner>
      <div className="flex flex-wrap gap-2">
        <LinkButton kind="primary" to="/w/$workspaceId/secrets" params={{ workspaceId }}>
          {words.toSecrets}
        </LinkButton>
        <LinkButton to="/w/$workspaceId/live" params={{ workspaceId }}>
          {words.toLive}
        </LinkButton>
      </div>
    </section>
  )
}

function ThreeColumns({ call }: { call: LiveCall }) {
  const names = secretsOf(call)
  const address = (
    <UrlText method={call.method ?? ''} host={callHostOf(call)} path={callPathOf(call)} />
  )
  const formatList = (textOf: (name: string) => string) =>
    names.map((name) => <Tag key={name}>{textOf(name)}</Tag>)
  return (
    <div className="grid grid-cols-3 gap-3 phone:grid-cols-1">
      <Column title={words.sent} note={words.sentNote}>
        {address}
        {formatList(placeholderOf)}
      </Column>
      <Column title={words.received} note={words.receivedNote}>
        {address}
        {formatList(words.value)}
      </Column>
      <Column title={words.back} note={call.redacted ? words.removed : words.noKey}>
        <CallStatus call={call} />
        {call.redacted ? formatList(placeholderOf) : null}
      </Column>
    </div>
  )
}

function Column({ title, note, children }: { title: string; note: string; children: ReactNode }) {
  return (
    <section className="flex min-w-0 flex-col gap-2 rounded-card border border-line bg-surface p-4 shadow-control">
      <h3 className="font-semibold">{title}</h3>
      <div className="flex min-w-0 flex-col items-start gap-1.5 [&>*]:max-w-full">{children}</div>
      <p className="mt-auto text-small text-ink-2">{note}</p>
    </section>
  )
}
