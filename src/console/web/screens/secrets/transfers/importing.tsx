/** A `.env` file, pasted or dropped: read in the worker, shown by name with what it would change, then stored. */
import { useState } from 'react'
import { FileTrigger } from 'react-aria-components'
import { Button } from '../../../parts/button.tsx'
import { Checkbox } from '../../../parts/fields/checkbox.tsx'
import { Select } from '../../../parts/fields/select.tsx'
import { TextArea } from '../../../parts/fields/text_area.tsx'
import { texts } from '../../../texts/index.ts'
import { type PaneProps, useGo } from '../place.ts'
import { Transfer } from './transfer.tsx'

const words = texts.secrets

export function Importing({ place, matrix, environment }: PaneProps & { environment: string }) {
  const go = useGo()
  const [text, setText] = useState('')
  const [isShown, setShown] = useState(false)
  const [isBad, setBad] = useState(false)
  const take = async (file: Blob | undefined) => {
    if (!file) return
    try {
      setText(new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer()))
      setBad(false)
    } catch {
      setBad(true)
    }
  }
  return (
    <div className="stack">
      <Select
        label={words.environment}
        options={matrix.environments.map((id) => ({ id, label: id }))}
        value={environment}
        onChange={(chosen) => go({ environment: chosen }, true)}
      />
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset has no drop of its own. */}
      <div
        className="drop"
        role="group"
        aria-label={words.import}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault()
          void take(event.dataTransfer.files[0])
        }}
      >
        <TextArea
          label={words.importText}
          help={words.importHelp}
          rows={8}
          isHidden={!isShown}
          value={text}
          onChange={setText}
          error={isBad ? words.notText : undefined}
        />
      </div>
      <Checkbox isSelected={isShown} onChange={setShown}>
        {words.showTyped}
      </Checkbox>
      <FileTrigger onSelect={(files) => void take(files?.[0])}>
        <Button>{words.chooseFile}</Button>
      </FileTrigger>
      <Transfer
        key={environment}
        to={{ ...place, environment }}
        source={{ text }}
        isEmpty={text.trim() === ''}
        onDone={() => {
          setText('')
          go({ pane: undefined })
        }}
      />
    </div>
  )
}
