/** Chooses an environment of the project; the address has the choice. */
import { Select } from '../../../parts/fields/select.tsx'
import { texts } from '../../../texts/index.ts'
import { type Matrix, useEnvironment, useGo } from '../place.ts'

type Props = { matrix: Matrix; label?: string }

export function EnvironmentSelect({ matrix, label = texts.secretSheets.environment }: Props) {
  const go = useGo()
  return (
    <Select
      label={label}
      options={matrix.environments.map((id) => ({ id, label: id }))}
      value={useEnvironment(matrix)}
      onChange={(environment) => go({ environment }, true)}
    />
  )
}
