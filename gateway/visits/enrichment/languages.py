"""Language codes that visits are counted under. Data only.

Sources: the two-letter codes of ISO 639-1; of the three-letter codes of ISO 639, those for which
CLDR 48.2 has a locale (`availableLocales`); and the aliases of CLDR 48.2 (`languageAlias`) whose
replacement is one of these codes.
"""

from __future__ import annotations

_CODES = """
    aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy
    da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht
    hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky
    la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny
    oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss
    st su sv sw ta te tg th ti tk tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za
    zh zu

    agq ann apc arn asa ast bal bas bem bew bez bgc bgn bho blo blt bqi brx bss bua byn cad cch
    ccp ceb cgg cho chr cic ckb cop csw dav dje doi dsb dua dyo ebu ewo fil frr fur gaa gez gsw
    guz haw hnj hsb jbo jgo jmc kaa kab kaj kam kcg kde kea kek ken kgp khq kkj kln kok kpe ksb
    ksf ksh kxv lag lij lkt lld lmo lrc ltg luo luy lzz mai mas mdf mer mfe mgh mgo mhn mic mni
    moh mua mus mww myv mzn naq nds nmg nnh nqo nso nus nyn oka osa pap pcm pis pms prg quc raj
    rhg rif rof rwk sah saq sat sbp scn sdh seh ses sgs shi shn sid skr sma smj smn sms ssy suz
    syr szl teo tig tok tpi trv trw twq tyv tzm vai vec vmw vun wae wal wbp xnr xog yav yrl yue
    zgh
"""
_ALIASES = """
    aar>aa abk>ab adp>dz afr>af ajp>apc aka>ak alb>sq als>sq amh>am ara>ar arb>ar arg>an arm>hy
    asm>as ava>av ave>ae aym>ay ayr>ay aze>az azj>az bak>ba bam>bm baq>eu bcc>bal bel>be ben>bn
    bh>bho bih>bho bis>bi bod>bo bos>bs bre>br bul>bg bur>my bxk>luy bxr>bua cat>ca ces>cs
    cha>ch che>ce chi>zh chu>cu chv>cv cld>syr cls>sa cmn>zh cnr>sr cor>kw cos>co cre>cr cwd>cr
    cym>cy cze>cs dan>da deu>de dgo>doi div>dv drh>mn drw>fa dut>nl dzo>dz ekk>et ell>el eng>en
    epo>eo esk>ik est>et eus>eu ewe>ee fao>fo fas>fa fat>ak fij>fj fin>fi fra>fr fre>fr fry>fy
    fuc>ff ful>ff gaz>om geo>ka ger>de gla>gd gle>ga glg>gl glv>gv gom>kok gre>el grn>gn gug>gn
    guj>gu hat>ht hau>ha hbs>sr heb>he her>hz hin>hi hmo>ho hrv>hr hun>hu hye>hy ibo>ig ice>is
    ido>io iii>ii ike>iu iku>iu ile>ie in>id ina>ia ind>id ipk>ik isl>is ita>it iw>he jav>jv
    ji>yi jpn>ja jw>jv kal>kl kan>kn kas>ks kat>ka kau>kr kaz>kk khk>mn khm>km kik>ki kin>rw
    kir>ky kmr>ku knc>kr kng>kg kom>kv kon>kg kor>ko kpv>kv kua>kj kur>ku lao>lo lat>la lav>lv
    lim>li lin>ln lit>lt ltz>lb lub>lu lug>lg lvs>lv mac>mk mah>mh mal>ml mao>mi mar>mr may>ms
    mkd>mk mlg>mg mlt>mt mo>ro mol>ro mon>mn mri>mi msa>ms mup>raj mya>my nau>na nav>nv nbl>nr
    nde>nd ndo>ng nep>ne nld>nl nno>nn nob>nb nor>no npi>ne nya>ny oci>oc ojg>oj oji>oj ori>or
    orm>om ory>or oss>os pan>pa pbu>ps per>fa pes>fa pli>pi plt>mg pol>pl por>pt prp>gu prs>fa
    pus>ps que>qu quz>qu roh>rm ron>ro rum>ro run>rn rus>ru sag>sg san>sa scc>sr scr>hr sh>sr
    sin>si slk>sk slo>sk slv>sl sme>se smo>sm sna>sn snd>sd som>so sot>st spa>es spy>kln sqi>sq
    src>sc srd>sc srp>sr ssw>ss sun>su swa>sw swc>sw swe>sv swh>sw tah>ty tam>ta tat>tt tel>te
    tgk>tg tgl>fil tha>th tib>bo tir>ti tl>fil tnf>fa ton>to tsn>tn tso>ts tuk>tk tur>tr twi>ak
    uig>ug ukr>uk urd>ur uzb>uz uzn>uz ven>ve vie>vi vol>vo wel>cy wln>wa wol>wo xho>xh xpe>kpe
    ydd>yi yid>yi yor>yo zha>za zho>zh zsm>ms zul>zu zyb>za
"""

CODES = frozenset(_CODES.split())
"""Primary subtags of language tags. Nothing else that a client sends becomes a name."""
ALIASES = dict(pair.split(">") for pair in _ALIASES.split())
"""The code that replaces a deprecated, bibliographic or longer one."""
