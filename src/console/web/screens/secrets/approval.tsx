/** The fields for a secret's approval: needed or not, the approver's role, and how long a release may last. */
import { approvers } from '../../../../core/policy/policy.ts'
import { Select } from '../../parts/fields/select.tsx'
import { texts } from '../../texts/index.ts'
import type { Approval } from './draft.ts'

const words = texts.policies.approval

const NONE = 'none'
const choices = [NONE, ...approvers] as const
/** Seconds; 0 where each use is allowed singly. */
const LENGTHS = [0, 300, 900, 3_600, 28_800, 86_400]
const USUAL_SECONDS = 900

type Props = { value: Approval | null; isFit: boolean; onChange(value: Approval | null): void }

export function ApprovalFields({ value, isFit, onChange }: Props) {
  const seconds = value?.ttl_seconds ?? USUAL_SECONDS
  const lengths = [...new Set([...LENGTHS, seconds])].sort((one, other) => one - other)
  return (
    <>
      <div className="row">
        <Select
          label={words.label}
          options={choices.map((id) => ({ id, label: words.by[id] }))}
          value={value?.by ?? NONE}
          onChange={(by) => onChange(by === NONE ? null : { by, ttl_seconds: seconds })}
        />
        {value === null ? null : (
          <Select
            label={words.seconds}
            options={lengths.map((each) => ({
              id: String(each),
              label: each === 0 ? words.singly : texts.waiting.length(each),
            }))}
            value={String(seconds)}
            onChange={(id) => onChange({ ...value, ttl_seconds: Number(id) })}
          />
        )}
      </div>
      {value === null ? null : <p className="help">{words.advice}</p>}
      {isFit ? null : <p className="field-error">{words.conflict}</p>}
    </>
  )
}
