"""Words that build sentences in any text, whatever it is about.

They count like all others where weights are learned, but no reason and no rule is made of them:
whoever reads "how to" on a hundred pages about programs still writes letters to people. Lists are
short and of seven languages; for all other words and languages, `rules` asks the person's history.
"""

from __future__ import annotations

_WORDS = {
    "English": """
        about after all also although always am among an and another any anything are as at be
        because been before being below between both but by can cannot could did do does doing done
        down during each either else even ever every few for from get gets getting got had has have
        having he her here hers him his how however if in instead into is it its itself just keep
        know let like made make makes making many may me might more most much must my need needs
        never new no not now of off often on once one only onto or other others our ours out over
        own per please possible re really same see several shall she should since so some something
        still such than that the their them then there these they thing things this those though
        through to too under until up upon us use used using very via want was way we well were what
        when where whether which while who whom whose why will with within without work works would
        yes yet you your yours""",
    "German": """
        aber alle allem allen aller alles als also am an ander andere anderen anderer anderes auch
        auf aus bei beim bis da dabei dadurch dafür dagegen daher damit danach daran darauf darin
        darum das dass davon dazu dein deine dem den denn der deren des dessen die dies diese diesem
        diesen dieser dieses doch dort du durch eben ein eine einem einen einer eines einige er es
        etwas euch euer für gegen gibt haben hat hatte hier hin hinter ich ihr ihre ihrem ihren
        ihrer im immer in indem ins ist ja jede jedem jeden jeder jedes jetzt kann kein keine keinen
        können könnte machen man mehr mein meine mich mir mit muss nach neben nein nicht nichts noch
        nun nur ob oder ohne sehr sein seine seinem seinen seiner seit selbst sich sie sind so
        solche soll sollte sondern sonst über um und uns unser unsere unter vom von vor während
        wann warum was weil welche welchem welchen welcher welches wenn werden wie wieder wir wird
        wo wurde würde zu zum zur zwischen""",
    "French": """
        afin ai ainsi alors après au aucun aucune aussi autre autres aux avant avec avoir car ce
        ceci cela celle celles celui ces cet cette ceux chaque chez comme comment dans de depuis des
        deux dois doit donc dont du elle elles en encore entre est et être eu faire fait faut ici il
        ils je jusqu la le les leur leurs lors lorsque lui ma mais mes moi moins mon même ne ni non
        nos notre nous on ont ou où par parce pas pendant peu peut plus plusieurs pour pourquoi
        quand que quel quelle quelles quels qui quoi sa sans se selon sera ses si son sont sous sur
        ta tes toi ton toujours tous tout toute toutes très trop tu un une vers voici votre vous""",
    "Spanish": """
        al algo algunas algunos ante antes aquel aquella así aunque cada como con contra cual cuando
        de del desde donde dos el ella ellas ellos en entre era eres es esa esas ese eso esos esta
        estaba están estar estas este esto estos fue ha hace hacer hasta hay la las le les lo los
        mas me mi mis mucho muchos muy nada ni no nos nosotros nuestra nuestro otra otras otro otros
        para pero poco por porque puede qué que quien se sea según ser si sin sobre son su sus
        también tan tanto te tiene todo todos tu tus un una unas uno unos usted ya yo""",
    "Italian": """
        agli ai al alla alle allo anche ancora avere che chi ci come con contro cosa cui da dagli
        dai dal dalla dalle dei del della delle dello dentro di dopo dove due e ed era essere fare
        fino fra gli ha hanno ho il in io la le lei lo loro lui ma mentre mi mia mio molto ne negli
        nei nel nella nelle nello noi non nostra nostro ogni oppure per perché più poi prima può
        quale quali quando quanto quella quelle quelli quello questa queste questi questo qui se
        senza si sia sono sopra sotto sta su sua sue sui sul sulla suo suoi tra tu tua tutti tutto
        un una uno vi voi""",
    "Portuguese": """
        ao aos apenas após as até através cada com como contra da das de dela dele deles depois do
        dos ela elas ele eles em enquanto entre era essa essas esse esses esta estas este estes está
        eu fazer foi há isso isto já lhe mais mas me mesmo meu meus minha muito na nas nem no nos
        nossa nosso não nós onde os ou para pela pelas pelo pelos por porque pode qual quando que
        quem se sem ser seu seus sobre sua suas são só também te tem todo todos tu um uma você
        vocês""",
    "Dutch": """
        aan achter al alle alles als altijd andere ben bij binnen daar dan dat de deze die dit doen
        door dus een eens en er geen haar had heb hebben heeft hem het hier hij hoe hun iets ik in
        is ja je jij jullie kan kon kunnen maar me meer met mij mijn moet na naar niet niets nog nu
        of om omdat ons onze ook op over te tegen toch toen tot tussen uit uw van veel voor waar
        waarom wanneer want was wat we wel welke werd wie wij wil worden wordt zal ze zelf zich zij
        zijn zo zonder zou""",
}
FUNCTION_WORDS = frozenset(word for words in _WORDS.values() for word in words.split())
