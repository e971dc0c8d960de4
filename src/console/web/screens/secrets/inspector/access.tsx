/** People and tokens that can use a secret, and its calls by day. */
import { Bot, Box } from 'lucide-react'
import type { ReactNode } from 'react'
import { permits } from '../../../../../core/roles.ts'
import { Icon } from '../../../parts/icon.tsx'
import { FailureNote } from '../../../parts/page/failure.tsx'
import { InspectorSection } from '../../../parts/page/section.tsx'
import { SkeletonRows } from '../../../parts/page/skeleton.tsx'
import { Ago } from '../../../parts/show/ago.tsx'
import { Avatar } from '../../../parts/show/avatar.tsx'
import { StackedBars } from '../../../parts/show/stacked_bars.tsx'
import { useAsk } from '../../../queries.ts'
import { texts, tokenName } from '../../../texts/index.ts'
import { type SecretsPlace, useMayHere } from '../place.ts'
import { type OfSecret, sum, useSecretUse } from './use.ts'

const words = texts.inspector
/** More dates do not fit side by side. */
const LABELS = 4

export function AccessTab({ place }: { place: OfSecret }) {
  const manages = useMayHere('agent.manage')
  const { workspaceId, projectId, environment } = place
  return (
    <div className="-mt-px">
      <ByDay place={place} />
      <InspectorSection title={words.people}>
        <People workspaceId={workspaceId} />
      </InspectorSection>
      <InspectorSection title={words.agents}>
        {manages ? (
          <Tokens place={{ workspaceId, projectId, environment }} />
        ) : (
          <p className="text-ink-2">{words.agentsUnknown}</p>
        )}
      </InspectorSection>
    </div>
  )
}

function ByDay({ place }: { place: OfSecret }) {
  const use = useSecretUse(place)
  if (!use) return <div className="h-45" />
  const { days, calls, refused } = use
  const allowed = calls.map((count, at) => count - (refused[at] ?? 0))
  return (
    <InspectorSection title={words.byDay}>
      <StackedBars
        label={words.byDay}
        text={words.inDays(sum(calls))}
        days={days}
        labels={LABELS}
        series={[
          { label: words.allowed, values: allowed, tone: 'accent' },
          { label: words.refusedCalls, values: refused, tone: 'red' },
        ]}
      />
    </InspectorSection>
  )
}

function Row({ sign, name, note }: { sign: ReactNode; name: string; note: ReactNode }) {
  return (
    <li className="flex min-h-8 items-center gap-2 phone:min-h-11">
      <span className="flex size-6 shrink-0 items-center justify-center text-ink-3">{sign}</span>
      <span className="min-w-0 flex-1 truncate font-medium" title={name}>
        {name}
      </span>
      <span className="shrink-0 text-ink-3">{note}</span>
    </li>
  )
}

function People({ workspaceId }: { workspaceId: string }) {
  const { data, error } = useAsk('members.list', { workspaceId })
  if (error) return <FailureNote error={error} />
  if (!data) return <SkeletonRows count={2} height={34} />
  const readers = data.members.filter(
    ({ role, status }) => status === 'active' && permits(role, 'secret.read'),
  )
  return (
    <ul aria-label={words.people}>
      {readers.map(({ userId, name, email, role, isOwn }) => (
        <Row
          key={userId}
          sign={<Avatar name={name || email} />}
          name={name || email}
          note={isOwn ? `${texts.members.roles[role]} · ${words.you}` : texts.members.roles[role]}
        />
      ))}
    </ul>
  )
}

function Tokens({ place }: { place: SecretsPlace }) {
  const { data, error } = useAsk('policies.tokens', place)
  if (error) return <FailureNote error={error} />
  if (!data) return <SkeletonRows count={2} height={34} />
  if (data.tokens.length === 0) return <p className="text-ink-2">{words.noTokens}</p>
  return (
    <>
      <ul aria-label={words.agents}>
        {data.tokens.map(({ id, agent, label, capabilities, expiresAt }) => (
          <Row
            key={id}
            sign={<Icon of={agent === null ? Box : Bot} />}
            name={tokenName({ agent, label })}
            note={
              <>
                {capabilities.includes('read') ? words.may.read : words.may.use}
                {' · '}
                {expiresAt === null ? (
                  words.noExpiry
                ) : (
                  <>
                    {words.expires} <Ago at={expiresAt} short />
                  </>
                )}
              </>
            }
          />
        ))}
      </ul>
      {data.isWhole ? null : <p className="pt-2 text-ink-3">{words.notAllTokens}</p>}
    </>
  )
}
