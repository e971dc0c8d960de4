/** Actions on the selected secrets in one environment. */
import { texts } from '../../../texts/index.ts'
import { Policies } from '../inspector/policies.tsx'
import { type PaneProps, useEnvironment, useGo } from '../place.ts'
import { RemoveDialog } from '../remove.tsx'
import { EnvironmentSelect } from './environment_select.tsx'
import { Pane } from './pane.tsx'

const words = texts.secretSheets

export function SetPolicies(props: PaneProps) {
  const environment = useEnvironment(props.matrix)
  return (
    <Pane title={words.policiesTitle(props.keys.length)} width={560}>
      <EnvironmentSelect matrix={props.matrix} />
      <Policies key={environment} {...props} environment={environment} />
    </Pane>
  )
}

export function RemoveSelected({ place, matrix, keys, clear }: PaneProps & { clear(): void }) {
  const go = useGo()
  const environment = useEnvironment(matrix)
  const present = matrix.rows
    .filter(({ key, cells }) => keys.includes(key) && cells[environment] !== undefined)
    .map(({ key }) => key)
  return (
    <RemoveDialog
      place={{ ...place, environment }}
      keys={present}
      isOpen
      onClose={() => go({ pane: undefined })}
      onDone={clear}
    >
      <EnvironmentSelect matrix={matrix} />
    </RemoveDialog>
  )
}
