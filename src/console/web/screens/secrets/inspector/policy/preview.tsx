/** The number of the last 7 days' calls that a policy would still allow, and the calls that it would refuse. */
import { CircleCheck, TriangleAlert } from 'lucide-react'
import { useMemo } from 'react'
import { judgeCalls } from '../../../../../../client/secrets/judged_calls.ts'
import type { Policy } from '../../../../../../core/policy/policy.ts'
import { Icon } from '../../../../parts/icon.tsx'
import { FailureNote } from '../../../../parts/page/failure.tsx'
import { Proof } from '../../../../parts/page/proof.tsx'
import { UrlText } from '../../../../parts/show/url.tsx'
import { useAsk } from '../../../../queries.ts'
import { texts } from '../../../../texts/index.ts'
import type { SecretsPlace } from '../../place.ts'

const words = texts.policies

type Props = { place: SecretsPlace & { key: string }; policy: Policy }

export function PolicyPreview({ place, policy }: Props) {
  const { data, error } = useAsk('policies.calls', place)
  const judged = useMemo(() => (data ? judgeCalls(policy, data) : null), [policy, data])
  if (error) return <FailureNote error={error} />
  return (
    <div className="flex flex-col gap-2">
      <Line judged={judged} />
      {judged && judged.kinds.length > 0 ? <Refused judged={judged} /> : null}
    </div>
  )
}

type Judged = ReturnType<typeof judgeCalls>

function Line({ judged }: { judged: Judged | null }) {
  if (judged === null || judged.calls === 0)
    return (
      <p role="status" className="text-ink-2">
        {judged === null ? words.checking : words.unused}
      </p>
    )
  const { calls, refused } = judged
  const [icon, look] =
    refused > 0 ? [TriangleAlert, 'text-amber'] : [CircleCheck, 'text-ink-2 [&_svg]:text-green']
  return (
    <p role="status" className={`flex gap-1.5 ${look}`}>
      <span className="flex h-5 items-center">
        <Icon of={icon} />
      </span>
      {refused > 0 ? words.wouldRefuse(refused, calls) : words.allPass(calls)}
    </p>
  )
}

function Refused({ judged: { kinds, isWhole } }: { judged: Judged }) {
  return (
    <>
      <ul aria-label={words.refusedCalls} className="flex flex-col gap-2">
        {kinds.map(({ method, target_url, style, count, rule, text }) => (
          <li key={`${method} ${target_url} ${style}`}>
            <span className="flex gap-2">
              <span className="shrink-0 text-ink-3 tabular-nums">{words.times(count)}</span>
              <Target method={method} url={target_url} />
            </span>
            <p className="text-small text-ink-2">
              {words.objection(ruleText(rule, method, target_url))}
            </p>
            <Proof>{text}</Proof>
          </li>
        ))}
      </ul>
      <p className="text-small text-ink-3">{isWhole ? words.notChecked : words.notWhole}</p>
    </>
  )
}

function ruleText(rule: Judged['kinds'][number]['rule'], method: string, url: string): string {
  const target = URL.parse(url)
  const call = { method, host: target?.host ?? url, path: target?.pathname ?? url }
  return texts.live.why.rules[rule](call)
}

function Target({ method, url }: { method: string; url: string }) {
  const target = URL.parse(url)
  if (target === null) return <code className="wrap-anywhere">{url}</code>
  return <UrlText method={method} host={target.host} path={target.pathname} />
}
