/** The home of a workspace. */
import { Screen } from '../../parts/page/screen.tsx'
import { texts } from '../../texts/index.ts'

export function Overview() {
  return (
    <Screen title={texts.common.areas.overview} isPage>
      {null}
    </Screen>
  )
}
