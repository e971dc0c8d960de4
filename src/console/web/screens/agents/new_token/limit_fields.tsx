/** Limits of a token that can't read values: calls, bytes and model tokens. */
import { limitNames } from '../../../../../core/token_limits.ts'
import { TextField } from '../../../parts/fields/text_field.tsx'
import { Proof } from '../../../parts/page/proof.tsx'
import { texts } from '../../../texts/index.ts'
import type { DraftProps } from './draft.ts'
import { isLimit } from './draft.ts'

const words = texts.limits

export function LimitFields({ draft: { may, limits }, change }: DraftProps) {
  if (may !== 'use') return <p className="text-small text-ink-3">{words.onlyUse}</p>
  return (
    <Proof label={words.fields}>
      <p>{words.help}</p>
      <div className="grid grid-cols-2 gap-3 text-body text-ink">
        {limitNames.map((name) => (
          <TextField
            key={name}
            label={words.names[name]}
            inputMode="numeric"
            value={limits[name]}
            onChange={(text) => change({ limits: { ...limits, [name]: text } })}
            error={isLimit(limits[name]) ? undefined : words.wrong}
          />
        ))}
      </div>
    </Proof>
  )
}
