/** The places of a call that a value may be in, and the approval that each call needs. */
import {
  approvers,
  listAllowedLocations,
  type Policy,
  policyLocations,
} from '../../../../../../core/policy/policy.ts'
import { Choices } from '../../../../parts/fields/checkbox.tsx'
import { Select } from '../../../../parts/fields/select.tsx'
import { WordPanel } from '../../../../parts/overlays/sentence_word.tsx'
import { texts } from '../../../../texts/index.ts'
import { approvalText, placesText } from './fields.ts'
import type { PartProps } from './list_tokens.tsx'

const words = texts.policies

/** A secret that needs approval is in no variable and signs nothing. */
const isForHeld = (place: string) => place !== 'env' && place !== 'sign'

export function PlacesToken({ policy, onChange }: PartProps) {
  const { allowed_locations: _, ...rest } = policy
  const places = policyLocations.filter((place) => !policy.approval || isForHeld(place))
  const usual = listAllowedLocations(rest)
  const put = (ids: readonly string[]) => {
    const chosen = places.filter((place) => ids.includes(place))
    const isUsual = chosen.length === usual.length && usual.every((id) => chosen.includes(id))
    onChange(isUsual ? rest : { ...rest, allowed_locations: chosen })
  }
  const text = placesText(policy)
  return (
    <WordPanel
      label={words.names.allowed_locations}
      text={text}
      tone={text === words.none.allowed_locations ? 'amber' : undefined}
    >
      <Choices
        label={words.names.allowed_locations}
        options={places.map((id) => ({ id, label: words.places[id] }))}
        value={listAllowedLocations(policy)}
        onChange={put}
      />
    </WordPanel>
  )
}

const NONE = 'none'
const choices = [NONE, ...approvers] as const
/** Seconds; 0 if each call is approved alone. */
const LENGTHS = [0, 300, 900, 3_600, 28_800, 86_400]
const USUAL_SECONDS = 900

export function ApprovalToken({ policy, onChange }: PartProps) {
  const { approval: value, ...rest } = policy
  const seconds = value?.ttl_seconds ?? USUAL_SECONDS
  const lengths = [...new Set([...LENGTHS, seconds])].sort((one, other) => one - other)
  const choose = (by: (typeof choices)[number]) =>
    onChange(by === NONE ? rest : dropPlacesWhenHeld(rest, { by, ttl_seconds: seconds }))
  return (
    <WordPanel label={words.names.approval} text={approvalText(policy)}>
      <Select
        label={words.approval.label}
        options={choices.map((id) => ({ id, label: words.approval.by[id] }))}
        value={value?.by ?? NONE}
        onChange={choose}
      />
      {value ? (
        <>
          <Select
            label={words.approval.seconds}
            options={lengths.map((each) => ({
              id: String(each),
              label: each === 0 ? words.approval.each : texts.waiting.length(each),
            }))}
            value={String(seconds)}
            onChange={(id) =>
              onChange(dropPlacesWhenHeld(rest, { by: value.by, ttl_seconds: Number(id) }))
            }
          />
          <p className="text-small text-ink-2">{words.approval.help}</p>
        </>
      ) : null}
    </WordPanel>
  )
}

/** The places that a secret with approval can't be in are removed from its list. */
function dropPlacesWhenHeld(policy: Policy, approval: NonNullable<Policy['approval']>): Policy {
  const { allowed_locations: places } = policy
  return { ...policy, approval, ...(places ? { allowed_locations: places.filter(isForHeld) } : {}) }
}
