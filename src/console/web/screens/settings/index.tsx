/** Settings of a workspace. */
import { Screen } from '../../parts/page/screen.tsx'
import { texts } from '../../texts/index.ts'

export function Settings() {
  return (
    <Screen title={texts.common.areas.settings} isPage>
      {null}
    </Screen>
  )
}
